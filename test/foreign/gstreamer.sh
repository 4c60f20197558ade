# gstreamer.sh: pipelines whose elements are plug-ins, which a scanner finds in a separate process.
# The pipelines use pictures, sound, encoders, containers, threads and queues.
#
# needs: gst-launch-1.0 gst-inspect-1.0
# as: nobody
# limit: 100
# hide: 0:00:\d\d\.\d+|\d+:\d\d:\d\d\.\d+
# unordered: yes

export GST_REGISTRY_FORK=yes XDG_CACHE_HOME=$PWD/cache

prepare() {
    true
}

run() {
    gst-inspect-1.0 | wc -l
    gst-launch-1.0 -q videotestsrc num-buffers=60 ! video/x-raw,width=320,height=240 ! \
        videoconvert ! jpegenc ! avimux ! filesink location=a.avi
    echo "status $?"
    gst-launch-1.0 -q audiotestsrc num-buffers=200 ! audioconvert ! audioresample ! vorbisenc ! \
        oggmux ! filesink location=a.ogg
    echo "status $?"
    gst-launch-1.0 -q filesrc location=a.ogg ! decodebin ! audioconvert ! wavenc ! fakesink
    echo "status $?"
    gst-launch-1.0 -q filesrc location=a.avi ! decodebin ! queue ! videoscale ! \
        video/x-raw,width=80,height=60 ! tee name=t ! queue ! fakesink \
        t. ! queue ! pngenc ! fakesink
    echo "status $?"
    gst-launch-1.0 -q nothing ! fakesink 2>/dev/null
    echo "status $?"
}

"$@"
