# gimp.sh: a picture editor without a display: it runs a script in Scheme and starts plug-ins, each
# a process, to read and write files.
#
# needs: gimp
# as: nobody
# limit: 120

prepare() {
    # This run writes the files that gimp keeps between runs.
    gimp -i -d -f -s -b '(gimp-quit 0)' >/dev/null 2>&1
    true
}

run() {
    gimp -i -d -f -s -c --batch-interpreter=plug-in-script-fu-eval -b '
(let* ((image (car (gimp-image-new 300 200 RGB)))
       (layer (car (gimp-layer-new image 300 200 RGB-IMAGE "l" 100 LAYER-MODE-NORMAL))))
    (gimp-image-insert-layer image layer 0 0)
    (gimp-context-set-foreground (quote (200 40 10)))
    (gimp-drawable-fill layer FILL-FOREGROUND)
    (plug-in-gauss RUN-NONINTERACTIVE image layer 9 9 0)
    (plug-in-solid-noise RUN-NONINTERACTIVE image layer 0 0 1 2 3 4)
    (file-png-save RUN-NONINTERACTIVE image layer "a.png" "a.png" 0 9 0 0 0 0 0)
    (file-jpeg-save RUN-NONINTERACTIVE image layer "a.jpg" "a.jpg" 0.9 0 0 0 "" 0 1 0 0)
    (gimp-image-delete image)
    (set! image (car (gimp-file-load RUN-NONINTERACTIVE "a.jpg" "a.jpg")))
    (gimp-image-scale image 100 70)
    (gimp-message (number->string (car (gimp-image-width image))))
    (gimp-quit 0))'
    echo "status $?"
    file -b a.png a.jpg | cut -c1-40
}

"$@"
