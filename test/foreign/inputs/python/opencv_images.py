import cv2
import numpy as np

image = np.zeros((240, 320, 3), np.uint8)
for i in range(40):
    cv2.circle(image, (i * 8, 120), i, (i * 6, 255 - i, 90), 2)
grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
print(int(cv2.Canny(grey, 50, 150).sum()) > 0, len(cv2.findContours(grey, 0, 2)[0]) > 0)
for kind in (".png", ".jpg", ".tiff", ".webp"):
    print(kind, cv2.imdecode(cv2.imencode(kind, image)[1], 1).shape)
points, marks = cv2.ORB_create().detectAndCompute(grey, None)
print(len(points) > 0, cv2.GaussianBlur(image, (9, 9), 2).shape)
print(cv2.kmeans(np.float32(image.reshape(-1, 3)[:3000]), 3, None, (3, 5, 1), 2, 0)[2].shape)
try:
    cv2.cvtColor(np.zeros((0, 0)), 6)
except cv2.error as error:
    print("refused", error.code)
