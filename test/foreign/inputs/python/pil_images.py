import hashlib
import io

from PIL import Image, ImageDraw, ImageFilter

image = Image.new("RGB", (300, 200))
draw = ImageDraw.Draw(image)
for i in range(60):
    draw.ellipse((i * 4, i, i * 4 + 50, i + 90), outline=(i * 4, 255 - i, i), fill=(i, i * 3, 9))
print(hashlib.md5(image.tobytes()).hexdigest())
for kind in ("png", "jpeg", "gif", "tiff", "webp", "bmp", "ico"):
    out = io.BytesIO()
    image.resize((128, 96)).filter(ImageFilter.GaussianBlur(2)).save(out, kind)
    print(kind, Image.open(io.BytesIO(out.getvalue())).convert("L").rotate(30).size)
try:
    Image.open(io.BytesIO(b"nothing"))
except OSError as error:
    print("refused", type(error).__name__)
