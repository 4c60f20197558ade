#!/usr/bin/env bash
# rawdump.sh: check that heaptap rawdump shows all known blocks of test/embedded/firmware.c from
# copies of its memory: raw images and core dumps, of this machine, of a Cortex-M3 and of a
# big-endian PowerPC under qemu. If it fails, a device's dump shows wrong blocks, wrong names, or
# nothing without a reason.
#
# Targets without a compiler or emulator are skipped; tools/setup embedded installs them.

. "$SRCDIR/test/run/lib.subr"

here=$SRCDIR/test/embedded
room=$SRCDIR/src/embedded
sources="$here/firmware.c $room/heaptap_embedded.c"
flags="-std=gnu99 -Wall -Wextra -Werror -Os -g -I$room -I$here
       -DHEAPTAP_EMBEDDED_CONFIG=\"firmware_config.h\""

skipped() {
    echo "ok - $1 # SKIP needs $2: tools/setup embedded"
}

# holds NAME WORD_BYTES BIG OUTERMOST ARGUMENTS...: check that rawdump shows the firmware's blocks.
holds() {
    check "$1: the blocks, their sizes, functions and lines" \
        run_python "$area/firmware_blocks.py" "$@"
}

# says NAME WORDS ARGUMENTS...: check that rawdump fails with status 3 and prints WORDS.
says() {
    local name=$1 words=$2 said code
    shift 2
    said=$("$HEAPTAP" rawdump "$@" 2>&1 >/dev/null)
    code=$?
    same "$name" "3 yes" "$code $(case $said in *"$words"*) echo yes ;; *) echo "$said" ;; esac)"
}

# --- This machine --------------------------------------------------------------------------------

# A program at a fixed address, because a raw image does not record the address where its program
# was loaded.
check "it builds" "${CC:-gcc}" $flags -fno-omit-frame-pointer -no-pie -fno-pie -o native \
    $sources "$here/firmware_linux.c"
base=$(./native native.bin)
holds raw 8 false main --elf native "native.bin@$base"
holds "an image whose blocks show its address" 8 false main --elf native native.bin
holds "names from addr2line" 8 false main --elf native --addr2line addr2line native.bin
# An address within the largest block.
middle=$(run_python -c '
memory = open("native.bin", "rb").read()
size = (8192).to_bytes(8, "little")
print(next(i for i in range(0, len(memory), 8)
           if memory[i:i + 4] == b"HeaP" and memory[i + 8:i + 16] == size) + 1000)')
head -c "$middle" native.bin >part.bin
tail -c "+$((middle + 1))" native.bin >rest.bin
holds "in two files" 8 false main --elf native "part.bin@$base" "rest.bin@$((base + middle))"
# The annotation of that block begins 1000 bytes before. Pieces that part it must be joined.
for back in 1001 996 992 960 940; do
    seam=$((middle - back))
    head -c "$seam" native.bin >low.bin
    tail -c "+$((seam + 1))" native.bin >high.bin
    head -c 16 high.bin >sixteen.bin
    tail -c +17 high.bin >last.bin
    holds "in two files, $back" 8 false main --elf native "low.bin@$base" \
        "high.bin@$((base + seam))"
    holds "in three files, $back" 8 false main --elf native "last.bin@$((base + seam + 16))" \
        "sixteen.bin@$((base + seam))" "low.bin@$base"
done
same "the joined part" "low.bin, sixteen.bin, last.bin $((base))" "$("$HEAPTAP" rawdump --json \
    "last.bin@$((base + seam + 16))" "sixteen.bin@$((base + seam))" "low.bin@$base" |
    run_python -c '
import json, sys
[part] = json.load(sys.stdin)["memory"]["parts"]
print(part["name"], int(part["base"], 16))')"
# Pieces with a gap of one byte are not joined.
same "a gap" 2 "$("$HEAPTAP" rawdump --json "low.bin@$base" "high.bin@$((base + seam + 1))" \
    2>/dev/null | run_python -c '
import json, sys
print(len(json.load(sys.stdin)["memory"]["parts"]))')"

# Pieces that overlap: equal bytes count once, different ones are refused.
low=$((seam + 2000))
head -c "$low" native.bin >low.bin
holds "overlapping pieces" 8 false main --elf native "low.bin@$base" "high.bin@$((base + seam))"
holds "a piece within another" 8 false main --elf native "native.bin@$base" \
    "sixteen.bin@$((base + seam))"
holds "equal pieces" 8 false main --elf native "native.bin@$base" "native.bin@$base"
same "overlapping pieces, their size" "low.bin, high.bin $(stat -c %s native.bin)" \
    "$("$HEAPTAP" rawdump --json "high.bin@$((base + seam))" "low.bin@$base" | run_python -c '
import json, sys
[part] = json.load(sys.stdin)["memory"]["parts"]
print(part["name"], part["bytes"])')"
printf '\377' | cat - sixteen.bin >other.bin
says "pieces with different bytes" \
    "native.bin and other.bin have different bytes for address 0x$(printf %x $((base + seam)))" \
    --elf native "native.bin@$base" "other.bin@$((base + seam))"
says "equal images without addresses" "have memory of the same addresses, by their blocks" \
    --elf native native.bin native.bin
says "an image without an address beside one with an address" \
    "have memory of the same addresses, by their blocks" --elf native native.bin "low.bin@$base"

"$HEAPTAP" rawdump --elf native -o raw.heaptap native.bin >said
same "a profile is written" yes "$(grep -q '16.1 KiB in 137 blocks' said && echo yes)"
holds "the profile" 8 false main --profile raw.heaptap
same "report reads it" yes "$("$HEAPTAP" report raw.heaptap | grep -q make_sample && echo yes)"
same "diff reads it" 0 \
    "$("$HEAPTAP" diff --json raw.heaptap raw.heaptap | run_python -c '
import json, sys
print(json.load(sys.stdin)["growth"]["inuse"])')"

same "the article's list of sizes" "[1023 x4, 1025 x4]  at times 1 to 8" \
    "$("$HEAPTAP" rawdump --elf native native.bin | sed -n 's/^ *\(\[1023.*\)/\1/p')"
nm native >native.nm
same "names from nm" yes "$("$HEAPTAP" rawdump --elf native --map native.nm native.bin |
    grep -q '^ *start_log ' && echo yes)"

# A relocated program: its load address follows from the address of its data.
check "it builds to be moved" "${CC:-gcc}" $flags -fno-omit-frame-pointer -pie -fPIE -o moved \
    $sources "$here/firmware_linux.c"
data=$(./moved moved.bin)
first=$((data - $(nm moved | sed -n 's/^\([0-9a-f]*\) . __data_start$/0x\1/p')))
says "a wrong address above 4 GiB" "lay at $data, not at" --elf moved \
    "moved.bin@$((data + 4096))"
holds "a program that was moved" 8 false main --elf moved --loaded-at "$first" moved.bin
"$HEAPTAP" rawdump --elf moved moved.bin >moved.out 2>moved.err
same "without --loaded-at: the hint" \
    yes "$(grep -q 'then give --loaded-at ADDR' moved.err && echo yes)"

# --- Wrong, incomplete and damaged input ---------------------------------------------------------

says "a wrong address" "lay at 0x${base#0x}, not at 0x1000" --elf native native.bin@0x1000
says "a wrong word size" "made with little-endian words of 8 bytes, but --word says" --word 32 \
    native.bin
says "no blocks" "no annotated block in" --elf native "$SRCDIR/LICENSE"
says "a file that is no program" "is no ELF file" --elf "$SRCDIR/LICENSE" native.bin
says "a missing file" "cannot be read" missing.bin
says "an addr2line that fails" "'false' failed" --elf native --addr2line false native.bin
"$HEAPTAP" rawdump --elf native part.bin >cut.out
same "an image that is cut off is reported" yes "$(grep -q 'Cut off *1 ' cut.out && echo yes)"
cat native.bin native.bin >twice.bin
"$HEAPTAP" rawdump --elf native "twice.bin@$base" >twice.out
same "copies are refused" "137 are copies" "$(sed -n 's/^ *Refused *137 *//p' twice.out)"

check "it builds with an overflow" "${CC:-gcc}" $flags -DOVERFLOW -fno-omit-frame-pointer -no-pie \
    -fno-pie -o damaged $sources "$here/firmware_linux.c"
./damaged damaged.bin >/dev/null
"$HEAPTAP" rawdump --elf damaged --json damaged.bin >damaged.json
same "an overflow is shown with its block" "past-end 1023 1023 1" "$(run_python -c '
import json
damage = json.load(open("damaged.json"))["memory"]["damage"]
print(damage[0]["kind"], damage[0]["first_byte"], damage[0]["block"]["bytes"], len(damage))')"
# An address of 64 bits is only known if the user gives it.
place=$("$HEAPTAP" rawdump --elf damaged damaged.bin |
    sed -n 's/^ *Past the end.* at \(0x[^,]*\),.*/\1/p')
same "an address derived from blocks is marked" yes "$(case $place in
    0x…????????) echo yes ;; *) echo "$place" ;; esac)"
base=$(./damaged damaged.bin)
place=$("$HEAPTAP" rawdump --elf damaged "damaged.bin@$base" |
    sed -n 's/^ *Past the end.* at \(0x[^,]*\),.*/\1/p')
same "one from a given base is not" yes "$(case $place in
    0x*…*|'') echo "$place" ;; *) echo yes ;; esac)"
same "JSON has the number of bits" "32 64" "$(for image in damaged.bin "damaged.bin@$base"; do
    "$HEAPTAP" rawdump --elf damaged --json "$image"
done | run_python -c '
import json, re, sys
print(*re.findall(r"\"base_bits\": (\d+)", sys.stdin.read()))')"

# --- Other processors ----------------------------------------------------------------------------

if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
    check "cortex-m: it builds" arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -funwind-tables $flags \
        "-DRAM_FILE=\"$PWD/arm.bin\"" -nostartfiles "-Wl,-T,$here/firmware_board.ld" -o arm.elf \
        $sources "$here/firmware_board.c" -lgcc --specs=nosys.specs
    check "cortex-m: it runs" timeout 60 qemu-system-arm -M mps2-an385 -nographic -monitor none \
        -serial none -semihosting -kernel arm.elf
    holds cortex-m 4 false reset --elf arm.elf arm.bin@0x20000000
    says "cortex-m: memory of another program" "is that the program of this memory?" --elf native \
        arm.bin
else
    skipped cortex-m "arm-none-eabi-gcc and qemu-system-arm"
fi
if command -v powerpc-linux-gnu-gcc >/dev/null && command -v qemu-ppc >/dev/null; then
    check "big-endian: it builds" powerpc-linux-gnu-gcc $flags -static -o ppc $sources \
        "$here/firmware_linux.c"
    base=$(qemu-ppc ./ppc ppc.bin)
    holds big-endian 4 true main --elf ppc "ppc.bin@$base"
    says "big-endian: the wrong byte order" "but --word says" --word 32 --endian little ppc.bin
    (ulimit -c unlimited && exec qemu-ppc ./ppc) >/dev/null 2>&1
    core=$(ls qemu_ppc_*.core 2>/dev/null | head -n 1)
    if [ -n "$core" ]; then
        holds "big-endian core" 4 true main --elf ppc "$core"
        says "big-endian core: another processor" "is the core of a program for PowerPC" \
            --elf native "$core"
        head -c 200 "$core" >head.core
        says "big-endian core: cut off" "is truncated" --elf ppc head.core
    else
        echo "ok - big-endian core # SKIP the emulator left none"
    fi
else
    skipped big-endian "powerpc-linux-gnu-gcc and qemu-ppc"
fi
finish
