import threading

import icu
import zmq

context = zmq.Context()
reply = context.socket(zmq.REP)
reply.bind("inproc://x")


def answer():
    for _ in range(300):
        reply.send(reply.recv()[::-1])


thread = threading.Thread(target=answer)
thread.start()
request = context.socket(zmq.REQ)
request.connect("inproc://x")
total = 0
for i in range(300):
    request.send(b"x" * i)
    total += len(request.recv())
thread.join()
request.close()
reply.close()
context.term()
print(total)
collator = icu.Collator.createInstance(icu.Locale("de_DE"))
print(sorted(["z", "ä", "a", "Ö", "o"], key=collator.getSortKey))
words = icu.BreakIterator.createWordInstance(icu.Locale("en"))
words.setText("Some words, and more of them.")
print(list(words))
print(icu.Transliterator.createInstance("Any-Latin").transliterate("Ελλάς Россия"))
try:
    icu.RegexMatcher("(", 0)
except icu.ICUError as error:
    print("refused", error.getErrorCode())
