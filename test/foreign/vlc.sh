# vlc.sh: a player that opens all plug-ins to examine them, then plays a sound without a device and
# converts it to another format, in several threads.
#
# needs: cvlc python3
# as: nobody
# limit: 60
# hide: \[[0-9a-f]+\]
# unordered: yes

prepare() {
    python3 - <<'END'
import math
import wave

w = wave.open("a.wav", "wb")
w.setparams((1, 2, 8000, 0, "NONE", ""))
w.writeframes(b"".join(int(9000 * math.sin(i / 9)).to_bytes(2, "little", signed=True)
                       for i in range(8000)))
END
}

run() {
    cvlc -q --no-plugins-cache --reset-plugins-cache --aout dummy a.wav vlc://quit
    echo "status $?"
    cvlc -q --sout '#transcode{acodec=s16l,samplerate=16000}:std{access=file,mux=wav,dst=b.wav}' \
        a.wav vlc://quit
    echo "status $?"
    file -b b.wav
}

"$@"
