# libreoffice.sh: an office suite in C++ that opens its libraries by name; it converts texts and
# tables to other formats.
#
# needs: soffice
# as: nobody
# limit: 280
# unordered: yes

prepare() {
    mkdir profile
    seq 300 | sed 's/.*/&,=A1+&,"text &"/' >table.csv
    seq -f 'Paragraph %g, with some words.' 400 >text.txt
    convert first text.txt pdf
    rm -rf first
}

# convert DIRECTORY FILE FORMAT
convert() {
    soffice "-env:UserInstallation=file://$PWD/profile" --headless --norestore \
        --convert-to "$3" --outdir "$1" "$2" >/dev/null 2>&1
    echo "status $?"
}

run() {
    convert out table.csv xlsx
    convert out table.csv pdf
    convert again out/table.xlsx csv
    convert out text.txt odt
    convert out text.txt docx
    convert again out/text.docx txt
    convert again out/text.odt pdf
    md5sum again/*.txt again/*.csv
    ls out again
}

"$@"
