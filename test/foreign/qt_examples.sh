# qt_examples.sh: Qt's example programs in C++, with plug-ins for platforms, styles, pictures and
# databases, without a display. Programs with a window run until a signal ends them.
#
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/sql/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/qtconcurrent/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/qtestlib/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/xml/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/gui/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/widgets/itemviews/*/*
# each: /usr/lib/x86_64-linux-gnu/qt5/examples/widgets/richtext/*/*
# except: \. sources
# except: ^(progressdialog|tutorial5)$ their output depends on timing
# as: nobody
# limit: 60
# hide: \d+(\.\d+)? ?(ms|msecs|milliseconds|s)\b|\d+,\d+

prepare() {
    true
}

run() {
    export XDG_RUNTIME_DIR=$PWD QT_QPA_PLATFORM=offscreen
    chmod 700 .
    timeout 1.5 "$1"
}

"$@"
