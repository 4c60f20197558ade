import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PyQt5 import QtCore, QtGui, QtWidgets

app = QtWidgets.QApplication(["x"])
window = QtWidgets.QMainWindow()
tree = QtWidgets.QTreeWidget()
for i in range(200):
    item = QtWidgets.QTreeWidgetItem([f"item {i}"])
    item.addChildren([QtWidgets.QTreeWidgetItem([str(j)]) for j in range(5)])
    tree.addTopLevelItem(item)
window.setCentralWidget(tree)
window.show()
picture = window.grab().toImage()
for kind in ("PNG", "JPG", "BMP", "XPM"):
    data = QtCore.QByteArray()
    buffer = QtCore.QBuffer(data)
    buffer.open(QtCore.QIODevice.WriteOnly)
    print(kind, picture.save(buffer, kind), QtGui.QImage.fromData(data).size() == picture.size())
timer = QtCore.QTimer()
ticks = []
timer.timeout.connect(lambda: (ticks.append(1), len(ticks) == 20 and app.quit()))
timer.start(1)
thread = QtCore.QThread()
thread.start()
app.exec_()
thread.quit()
thread.wait()
print(len(ticks), QtCore.QRegularExpression("a+b").match("xaab").captured())
