# media.sh: ffmpeg and ImageMagick: codecs and filters in dozens of libraries, threads, OpenMP.
#
# needs: ffmpeg convert-im6.q16
# as: nobody
# limit: 100
# hide: [\d.]+ ?(kB/s|fps|x)\b
# unordered: yes

prepare() {
    true
}

run() {
    ffmpeg -v error -f lavfi -i testsrc=duration=2:size=320x240:rate=15 -f lavfi \
        -i sine=duration=2 -c:v mpeg4 -c:a aac -shortest a.mp4
    echo "status $?"
    ffmpeg -v error -i a.mp4 -vf scale=160:-1,hue=s=0 -c:v libx264 -preset ultrafast -an b.mkv
    echo "status $?"
    ffmpeg -v error -i b.mkv -c:v libx265 -x265-params log-level=error -f null -
    echo "status $?"
    ffmpeg -v error -i a.mp4 -c:v libvpx-vp9 -cpu-used 8 -c:a libopus -f webm c.webm
    echo "status $?"
    ffmpeg -v error -i a.mp4 -f framemd5 - | wc -l
    ffmpeg -v error -i nothing.mp4 -f null - 2>/dev/null
    echo "status $?"
    convert-im6.q16 -size 300x200 plasma:red-blue -seed 1 -blur 0x3 -rotate 20 a.png
    convert-im6.q16 a.png -resize 50% -colors 16 a.gif
    convert-im6.q16 a.gif -distort Perspective '0,0 9,9 90,0 80,5 0,90 4,80 90,90 85,85' a.webp
    convert-im6.q16 -size 200x100 gradient: -font DejaVu-Sans -annotate +5+50 text a.jpg
    for i in a.png a.gif a.jpg; do identify-im6.q16 -format '%m %wx%h\n' $i; done
}

"$@"
