/* completion.c: shell completion from the tables, for bash and zsh.
 *
 * The scripts contain only words and no logic of heaptap. After `heaptap` they offer the commands,
 * after a command its options, and after an option with known values these values. Elsewhere they
 * offer profiles and directories, or all files if there are none. An optional value is offered only
 * after "=". For an option whose values have the form "A=B", known texts B are offered after the
 * second "=". If a command ends with another program's arguments (run), its first word that is no
 * option is completed to a program and later words to files in bash; zsh uses its own completion of
 * that program. All text from the tables that a shell would expand is quoted.
 */
#include "option/opts.h"

#include <stdio.h>
#include <string.h>

#include "util/arena.h"

enum { OPTION_NAME_BYTES = 64 };

/* Append TEXT for the inside of single quotes. ESCAPE has the characters that would end a
 * description of zsh's _arguments. */
static void
completion_quoted(struct strbuf *out, const char *text, size_t length, const char *escape)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            strbuf_str(out, "'\\''");
        else if (strchr(escape, text[i]) != NULL)
            strbuf_fmt(out, "\\%c", text[i]);
        else
            strbuf_char(out, text[i]);
    }
}

/* Return the Ith value that is offered for option O of C; NULL after the last one. */
static const char *
completion_value(const struct command *c, const struct opt *o, size_t i)
{
    if (opts_has_choices(o))
        return o->choices[i];
    return c->offered != NULL ? c->offered(o->name, i) : NULL;
}

/* Return the Ith text that is offered behind the "=" within a value of option O of C; NULL after
 * the last one. */
static const char *
completion_behind(const struct command *c, const struct opt *o, size_t i)
{
    char name[OPTION_NAME_BYTES];

    if (c->offered == NULL || opts_has_choices(o))
        return NULL;
    snprintf(name, sizeof name, "%s=", o->name);
    return c->offered(name, i);
}

/* Append the texts that are offered behind the "=" within a value of option O of C. */
static void
completion_texts(struct strbuf *out, const struct command *c, const struct opt *o)
{
    for (size_t i = 0; completion_behind(c, o, i) != NULL; i++)
        strbuf_fmt(out, "%s%s", i ? " " : "", completion_behind(c, o, i));
}

/* Append the values that are offered for option O of C. */
static void
completion_values(struct strbuf *out, const struct command *c, const struct opt *o)
{
    for (size_t i = 0; completion_value(c, o, i) != NULL; i++)
        strbuf_fmt(out, "%s%s", i ? " " : "", completion_value(c, o, i));
}

/* Return true if completion should offer files for O, judging by the help's name of the value. */
static bool
takes_file(const struct opt *o)
{
    static const char *const kinds[] = {"FILE", "DIR", "PROFILE"};

    for (size_t i = 0; o->kind == OPT_STRING && i < countof(kinds); i++)
        if (strstr(o->argument, kinds[i]) != NULL)
            return true;
    return false;
}

/* Append "--name" of each option, and "-h --help" at the end. */
static void
bash_options(struct strbuf *out, const struct command *c)
{
    for (const struct opt *o = c->options; o && o->kind != OPT_END; o++) {
        if (o->letter != 0)
            strbuf_fmt(out, "-%c ", o->letter);
        strbuf_fmt(out, "--%s ", o->name);
    }
    strbuf_str(out, "-h --help");
}

/* Append a case for each option that takes a value: its choices, files, or nothing. */
static void
bash_values(struct strbuf *out, const struct command *c)
{
    for (const struct opt *o = c->options; o && o->kind != OPT_END; o++) {
        if (o->kind == OPT_FLAG)
            continue;
        if (completion_behind(c, o, 0) != NULL) {
            strbuf_fmt(out, "        %s:--%s=*=) words='", c->name, o->name);
            completion_texts(out, c, o);
            strbuf_str(out, "' ;;\n");
        }
        strbuf_fmt(out, "        %s:--%s=", c->name, o->name);
        if (!opts_is_flag(o))
            strbuf_fmt(out, "|%s:--%s", c->name, o->name);
        if (!opts_is_flag(o) && o->letter != 0)
            strbuf_fmt(out, "|%s:-%c", c->name, o->letter);
        strbuf_str(out, ") ");
        if (completion_value(c, o, 0) != NULL) {
            strbuf_str(out, "words='");
            completion_values(out, c, o);
            strbuf_str(out, "' ;;\n");
        } else {
            strbuf_str(out, takes_file(o) ? "files=1 ;;\n" : "return ;;\n");
        }
    }
}

/* Append cases that find the word that ends C's options, the program's name, at index I. */
static void
bash_program(struct strbuf *out, const struct command *c)
{
    for (const struct opt *o = c->options; o && o->kind != OPT_END; o++) {
        strbuf_fmt(out, "            %s:--%s", c->name, o->name);
        if (o->letter != 0)
            strbuf_fmt(out, "|%s:-%c", c->name, o->letter);
        strbuf_fmt(out, ") [ \"$after\" = = ] && i=$((i + 2))%s ;;\n",
                   opts_is_flag(o) ? "" : " || i=$((i + 1))");
    }
    strbuf_fmt(out, "            %s:=) i=$((i + 1)) ;;\n", c->name); // Within a value.
    strbuf_fmt(out, "            %s:--) program=$((i + 1)) ;;\n", c->name);
    if (!c->stop_at_unknown)
        strbuf_fmt(out, "            %s:-*) ;;\n", c->name);
    strbuf_fmt(out, "            %s:*) program=$i ;;\n", c->name);
}

// NOLINTBEGIN(bugprone-macro-parentheses): g and c are names that are declared.
#define FOREACH_COMMAND(groups, g, c)                                       \
    for (const struct command_group *g = groups; g->title != NULL; g++)     \
        for (const struct command *const *c = g->commands; *c != NULL; c++)
// NOLINTEND(bugprone-macro-parentheses)

/* Append a search for the program whose arguments end the command. Its arguments are files. */
static void
bash_find_program(const struct command_group *groups, struct strbuf *out)
{
    strbuf_str(out, "    for ((i = 2; i < COMP_CWORD && program == 0; i++)); do\n"
                    "        after=${COMP_WORDS[i+1]}\n"
                    "        case $command:${COMP_WORDS[i]} in\n");
    FOREACH_COMMAND(groups, g, c)
        if ((*c)->stop_at_first)
            bash_program(out, *c);
    strbuf_str(out, "        esac\n"
                    "    done\n"
                    "    if [ \"$program\" -gt 0 ] && [ \"$program\" -lt \"$COMP_CWORD\" ]; then\n"
                    "        compopt -o filenames 2>/dev/null\n"
                    "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                    "        return\n"
                    "    fi\n");
}

void
completion_bash(const struct command_group *groups, struct strbuf *out)
{
    strbuf_str(out, "# bash completion for heaptap. Made from its option tables; do not edit.\n"
                    "_heaptap()\n{\n"
                    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    local command=${COMP_WORDS[1]} words='' files='' profiles=''\n"
                    "    local i program=0 after\n");
    FOREACH_COMMAND(groups, g, c)
        if ((*c)->alias)
            strbuf_fmt(out, "    [ \"$command\" = %s ] && command=%s\n", (*c)->alias, (*c)->name);
    strbuf_str(out, "    # Bash takes = for a word of its own.\n"
                    "    i=$COMP_CWORD\n"
                    "    if [ \"$before\" = = ]; then\n"
                    "        before=${COMP_WORDS[i-2]}= i=$((i - 2))\n"
                    "    elif [ \"$word\" = = ]; then\n"
                    "        word='' before=$before= i=$((i - 1))\n"
                    "    fi\n"
                    "    # The value of an option may have a further one.\n"
                    "    case $before in\n"
                    "        -*) ;;\n"
                    "        *=) [ \"${COMP_WORDS[i-1]}\" = = ] && i=$((i - 1))\n"
                    "            before=${COMP_WORDS[i-1]}=$before ;;\n"
                    "    esac\n"
                    "    COMPREPLY=()\n"
                    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                    "        COMPREPLY=($(compgen -W '");
    FOREACH_COMMAND(groups, g, c)
        strbuf_fmt(out, "%s ", (*c)->name);
    strbuf_str(out, "help --help --version' -- \"$word\"))\n"
                    "        return\n"
                    "    fi\n");
    bash_find_program(groups, out);
    strbuf_str(out, "    case $command:$before in\n"
                    "        help:*) words='");
    FOREACH_COMMAND(groups, g, c)
        strbuf_fmt(out, "%s ", (*c)->name);
    strbuf_str(out, "help' ;;\n");
    FOREACH_COMMAND(groups, g, c)
        bash_values(out, *c);
    strbuf_str(out, "        *)\n"
                    "            case $command:$word in\n");
    FOREACH_COMMAND(groups, g, c) {
        strbuf_fmt(out, "                %s:-*) words='", (*c)->name);
        bash_options(out, *c);
        strbuf_str(out, "' ;;\n");
        if ((*c)->stop_at_first)
            strbuf_fmt(out,
                       "                %s:*) COMPREPLY=($(compgen -c -- \"$word\")); files=1 ;;\n",
                       (*c)->name);
    }
    strbuf_str(out, "                *) profiles=1 ;;\n"
                    "            esac ;;\n"
                    "    esac\n"
                    "    if [ -n \"$words\" ]; then\n"
                    "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                    "    elif [ -n \"$profiles\" ]; then\n"
                    "        compopt -o filenames 2>/dev/null\n"
                    "        COMPREPLY=($(compgen -f -X '!*.heaptap' -- \"$word\")\n"
                    "                   $(compgen -d -- \"$word\"))\n"
                    "        [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
                    "    elif [ -n \"$files\" ]; then\n"
                    "        compopt -o filenames 2>/dev/null\n"
                    "        COMPREPLY+=($(compgen -f -- \"$word\"))\n"
                    "    fi\n"
                    "}\n"
                    "complete -F _heaptap heaptap\n");
}

/* Append one argument of _arguments, for O of C: '(-n --limit)'{-n+,--limit=}'[help]:N:'. */
static void
zsh_option(struct strbuf *out, const struct command *c, const struct opt *o)
{
    bool flag = opts_is_flag(o);
    // A full stop within a word, such as a file's name, ends no sentence.
    const char *end = strstr(o->help, ". ");
    size_t length = end ? (size_t)(end - o->help) : strlen(o->help);

    strbuf_str(out, "            ");
    if (o->letter != 0)
        strbuf_fmt(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                   flag ? "" : "+", o->name, flag ? "" : "=");
    else
        strbuf_fmt(out, "'--%s%s[", o->name, opts_may_have_value(o) ? "=-" : flag ? "" : "=");
    if (length > 0 && o->help[length - 1] == '.')
        length--;
    completion_quoted(out, o->help, length, "[]:\\");
    strbuf_char(out, ']');
    if (o->kind != OPT_FLAG) {
        strbuf_str(out, opts_may_have_value(o) ? "::" : ":");
        completion_quoted(out, o->argument, strlen(o->argument), ":\\");
        strbuf_char(out, ':');
    }
    if (completion_behind(c, o, 0) != NULL) {
        strbuf_str(out, "{ if compset -P \"*=\"; then compadd ");
        completion_texts(out, c, o);
        strbuf_str(out, "; else compadd ");
        completion_values(out, c, o);
        strbuf_str(out, "; fi }");
    } else if (completion_value(c, o, 0) != NULL) {
        strbuf_char(out, '(');
        completion_values(out, c, o);
        strbuf_char(out, ')');
    } else if (takes_file(o)) {
        strbuf_str(out, "_files");
    }
    strbuf_str(out, "' \\\n");
}

void
completion_zsh(const struct command_group *groups, struct strbuf *out)
{
    strbuf_str(out, "#compdef heaptap\n"
                    "# zsh completion for heaptap. Made from its option tables; do not edit.\n"
                    "_heaptap()\n{\n"
                    "    local -a commands\n"
                    "    commands=(\n");
    FOREACH_COMMAND(groups, g, c) {
        strbuf_fmt(out, "        '%s:", (*c)->name);
        completion_quoted(out, (*c)->summary, strlen((*c)->summary), ":\\");
        strbuf_str(out, "'\n");
    }
    strbuf_str(out, "        'help:explain a command'\n"
                    "    )\n"
                    "    if (( CURRENT == 2 )); then\n"
                    "        _describe command commands\n"
                    "        return\n"
                    "    fi\n"
                    "    shift words\n"
                    "    (( CURRENT-- ))\n"
                    "    case $words[1] in\n"
                    "        help) _describe command commands ;;\n");
    FOREACH_COMMAND(groups, g, c) {
        strbuf_fmt(out, "        %s%s%s)\n            _arguments -s %s\\\n", (*c)->name,
                   (*c)->alias ? "|" : "", (*c)->alias ? (*c)->alias : "",
                   (*c)->stop_at_first ? "-A '-*' " : "");
        for (const struct opt *o = (*c)->options; o && o->kind != OPT_END; o++)
            zsh_option(out, *c, o);
        strbuf_fmt(out, "            '(- *)'{-h,--help}'[Show help]' \\\n            %s ;;\n",
                   (*c)->stop_at_first ? "'(-)1:program:_command_names -e' '*::arguments:_normal'"
                                       : "'*:profile:_files -g \"*.heaptap(-.)\"'");
    }
    strbuf_str(out, "    esac\n}\n_heaptap \"$@\"\n");
}
