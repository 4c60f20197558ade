# siblings.s: debug information of two units in which each DIE calls its own first child its
# sibling: 200 namespaces, one in the other, and as many blocks in a function. A walk that visits
# siblings after children reaches the innermost 2^199 times.
    .text
code:
    .fill 16, 1, 0x90

    .section .debug_abbrev, "", @progbits
.Labbreviations:
    .uleb128 1, 0x11 # DW_TAG_compile_unit with children:
    .byte 1
    .uleb128 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0 # DW_AT_language, low_pc, high_pc
    .uleb128 2, 0x11 # The same without code.
    .byte 1
    .uleb128 0x13, 0x0b, 0, 0
    .uleb128 3, 0x13 # DW_TAG_structure_type without children:
    .byte 0
    .uleb128 0x03, 0x08, 0x3c, 0x19, 0, 0 # DW_AT_name, declaration
    .uleb128 4, 0x39 # DW_TAG_namespace with children:
    .byte 1
    .uleb128 0x03, 0x08, 0x01, 0x13, 0, 0 # DW_AT_name, sibling
    .uleb128 5, 0x2e # DW_TAG_subprogram with children:
    .byte 1
    .uleb128 0x03, 0x08, 0, 0
    .uleb128 6, 0x0b # DW_TAG_lexical_block with children:
    .byte 1
    .uleb128 0x01, 0x13, 0, 0
    .byte 0

    .section .debug_info, "", @progbits
.Lnamespaces:
    .long .Lnamespaces_end - .Lnamespaces_version
.Lnamespaces_version:
    .value 4
    .long .Labbreviations
    .byte 8
    .uleb128 1
    .byte 4 # DW_LANG_C_plus_plus
    .quad code, 16
    .uleb128 3
    .string "missing"
    .rept 200
    .uleb128 4
    .string "n"
    .long 1f - .Lnamespaces
1:
    .endr
    .fill 201, 1, 0
.Lnamespaces_end:

.Lblocks:
    .long .Lblocks_end - .Lblocks_version
.Lblocks_version:
    .value 4
    .long .Labbreviations
    .byte 8
    .uleb128 2
    .byte 4
    .uleb128 5
    .string "f"
    .rept 200
    .uleb128 6
    .long 1f - .Lblocks
1:
    .endr
    .fill 202, 1, 0
.Lblocks_end:
    .section .note.GNU-stack, "", @progbits
