"""inputs_deep.py: scripts with deep recursion, for the interpreters of the bench.

When a script recurses, its interpreter need not recurse in C: most interpreters keep the script's
frames in a separate list. The C stack grows if a built-in function of the interpreter calls a
function of the script: a comparison function of sort, a replacement function of a pattern, an
operator of an object, a block. Therefore each script evaluates and prints nested terms by such
calls, about 30 levels deep, and allocates strings and lists on all levels.
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def python_deep(path, scale):
    write(path, f"""\
import functools, re
class Node:
    def __init__(self, name, children):
        self.name, self.children = name, children
    def __repr__(self):
        return "(%s %s)" % (self.name, " ".join(map(repr, self.children)))
    def __add__(self, other):
        return Node(self.name + "+", [functools.reduce(lambda a, b: b, [self, other])])
    def __lt__(self, other):
        return repr(self.name) < repr(other.name)
def grow(depth, seed):
    wide = 2 if depth % 6 == 0 else 1
    return Node("n%d" % (seed % 97), list(map(lambda i: grow(depth - 1, seed * 31 + i),
                                              range(wide))) if depth else [])
def value(node):
    return sum(map(value, sorted(node.children))) + len(node.name * 2)
def inner(match):
    return "<" + re.sub("[(]([^()]*)[)]", inner, match.group(1)) + ">"
total = 0
for i in range({1700 * scale}):
    tree = grow(28, i) + grow(12, i)
    text = repr(tree)
    while "(" in text:
        text = re.sub("[(]([^()]*)[)]", inner, text)
    total += len(text) + (value(tree) > 0)
print(total)
""")


def perl_deep(path, scale):
    write(path, f"""\
package Node;
use strict; use warnings; no warnings "recursion";
use overload '""' => \\&text, '<=>' => \\&compare, '+' => \\&plus;
sub new {{ my ($class, $name, @children) = @_; bless {{ n => $name, c => [@children] }}, $class }}
sub text {{
    my $self = shift;
    "(" . join(" ", $self->{{n}}, map {{ "$_" }} @{{ $self->{{c}} }}) . ")"
}}
sub compare {{ length("$_[0]{{n}}") <=> length("$_[1]{{n}}") }}
sub plus {{
    my ($l, $r) = @_;
    @{{ $l->{{c}} }} ? Node->new($l->{{n}}, map {{ $_ + $r }} @{{ $l->{{c}} }}) : $r
}}
sub grow {{
    my ($depth, $seed) = @_;
    my $wide = $depth % 6 ? 1 : 2;
    Node->new("n" . $seed % 97, $depth ? sort {{ $a <=> $b }}
              map {{ grow($depth - 1, ($seed * 31 + $_) % 65536) }} 1 .. $wide : ());
}}
package main;
my $total = 0;
for my $i (1 .. {600 * scale}) {{
    my $tree = Node::grow(24, $i) + Node::grow(6, $i);
    my $text = "$tree";
    1 while $text =~ s/\\(([^()]*)\\)/"<" . lc($1) . ">"/ge;
    $total += length $text;
}}
print "$total\\n";
""")


def lua_deep(path, scale):
    write(path, f"""\
local kind = {{}}
kind.__tostring = function(t)
    local words = {{}}
    for i, c in ipairs(t.children) do words[i] = tostring(c) end
    return "(" .. t.name .. " " .. table.concat(words, " ") .. ")"
end
kind.__add = function(a, b)
    if #a.children == 0 then return b end
    local list = {{}}
    for i, c in ipairs(a.children) do list[i] = c + b end
    return setmetatable({{ name = a.name, children = list }}, kind)
end
kind.__lt = function(a, b) return tostring(a.name) < tostring(b.name) end
local function grow(depth, seed)
    local list = {{}}
    for i = 1, depth == 0 and 0 or depth % 6 == 0 and 2 or 1 do
        local ok, child = pcall(grow, depth - 1, (seed * 31 + i) % 65536)
        list[i] = child
    end
    table.sort(list, function(a, b) return a < b end)
    return setmetatable({{ name = "n" .. seed % 97, children = list }}, kind)
end
local function inner(s)
    return "<" .. string.gsub(string.sub(s, 2, -2), "%b()", inner) .. ">"
end
local total = 0
for i = 1, {450 * scale} do
    local text = tostring(grow(24, i) + grow(12, i))
    total = total + #(string.gsub(text, "%b()", inner))
end
print(total)
""")


def bash_deep(path, scale):
    write(path, f"""\
nest() {{
    local depth=$1 seed=$2 text="n$(( $2 % 97 ))" part
    for (( part = 1; part <= (depth == 0 ? 0 : depth % 10 ? 1 : 2); part++ )); do
        nest $(( depth - 1 )) $(( (seed * 31 + part) % 65536 ))
        case $result in *n1*) text+=" [$result]" ;; *) text+=" ($result)" ;; esac
    done
    result=${{text//n9/m}}
    result=${{result:0:200}}
}}
total=0
for (( i = 0; i < {140 * scale}; i++ )); do
    nest 30 $i
    words=($result)
    (( total += ${{#words[@]}} + ${{#result}} ))
done
echo $total
""")


def ruby_deep(path, scale):
    write(path, f"""\
class Node
  attr_reader :name, :children
  def initialize(name, children)
    @name, @children = name, children
  end
  def <=>(other)
    name.length <=> other.name.length
  end
  include Comparable
  def text
    "(" + ([name] + children.map {{ |c| c.text }}).join(" ") + ")"
  end
  def plus(other)
    children.empty? ? other : Node.new(name + "+", children.map {{ |c| c.plus(other) }})
  end
end
def grow(depth, seed)
  wide = depth == 0 ? 0 : depth % 6 == 0 ? 2 : 1
  Node.new("a name of some length, #{{seed % 97}}",
           (1..wide).map {{ |i| grow(depth - 1, (seed * 31 + i) % 65536) }}
                    .sort {{ |a, b| a <=> b }})
end
def inner(text)
  text.gsub(/\\(([^()]*)\\)/) {{ |m| "<" + inner(m[1..-2]) + ">" }}
end
total = 0
{70 * scale}.times do |i|
  text = grow(24, i).plus(grow(12, i)).text
  text = inner(text) while text.include?("(")
  total += text.length
end
puts total
""")


MAKERS = {"python-deep": python_deep, "perl-deep": perl_deep, "lua-deep": lua_deep,
          "bash-deep": bash_deep, "ruby-deep": ruby_deep}
