# moments.rb SEED MOMENTS FILE: make calls of all kinds at random. At MOMENTS of them, allocate a
# block of known size by String#concat, and count the chain of calls that caller_locations returns
# then in FILE. Methods in C are left out, except for concat: Ruby's list lacks their blocks.
# Methods in Ruby are those in METHODS and, with a line of Node, those in NODE_METHODS. Objects make
# no blocks here: concat finds its string.
GC.disable
BYTES = "x" * 5000
METHODS = ["<main>", "<top (required)>", "<class:Late>", "<class:Node>", "moment", "act", "choose",
           "nested", "thrower", "retried", "inner", "defined", "method_missing"].freeze
NODE_METHODS = ["to_s", "each", "call", "<=>", "coerce", "initialize"].freeze
$seed, $left, $nested, $counts = ARGV[0].to_i, ARGV[1].to_i, 0, Hash.new(0)

def is_ruby(place)
  METHODS.include?(place.base_label) || place.path&.start_with?("<internal:") ||
    NODE_METHODS.include?(place.base_label) && Node::LINES.include?(place.lineno)
end

def random(n)
  $seed = ($seed * 1103515245 + 12345) % 2147483648
  $seed / 65536 % n
end

def moment
  $left -= 1
  text = caller_locations(1).select { |l| is_ruby(l) }.map { |l| "#{l.path}:#{l.lineno}" }
  kept = String.new
  $counts["[C] #{__FILE__}:#{__LINE__ + 1} #{text.join(' ')}".rstrip] += 1
  kept.concat(BYTES)
end

class Node
  FIRST = __LINE__
  include Comparable
  include Enumerable
  attr_reader :n

  def initialize(n)
    @n = n
    moment if n == 7
  end

  def to_s
    act(1)
    "node"
  end

  def method_missing(name, depth = 0)
    name == :anything ? act(depth) : super
  end

  def respond_to_missing?(name, _)
    name == :anything
  end

  def <=>(other)
    moment if $left > 0
    n <=> other.n
  end

  def each
    act(1)
    yield self
    yield self
  end

  def call(x)
    act(1)
    x
  end

  def coerce(other)
    act(1)
    [other, 1]
  end

  def nested(depth)
    depth > 0 ? nested(depth - 1) : act(1)
  end

  define_method(:defined) { |depth| act(depth) }
  LINES = FIRST..__LINE__
end

def thrower(depth)
  thrower(depth - 1) if depth > 0
  act(1)
  raise "error"
end

def retried
  tries = 0
  begin
    tries += 1
    moment
    raise "again" if tries < 3
  rescue RuntimeError
    act(1)
    retry
  ensure
    moment
  end
end

def inner
  yield 1
  moment
end

# Make a call of a random kind. DEPTH and $nested bound the nesting.
def act(depth)
  return if $left <= 0
  moment
  return if depth <= 0 || $nested > 6
  $nested += 1
  choose(depth, Node.new(random(9)))
ensure
  $nested -= 1 if $nested > 0 && depth > 0
end

def choose(depth, node)
  case random(24)
  when 0 then node.nested(random(12))
  when 1 then [1, 2].each { act(depth - 1) }
  when 2 then [Node.new(3), Node.new(1), Node.new(2)].sort
  when 3 then node.map { |x| moment; x }
  when 4 then node.each_slice(1) { act(1) }
  when 5
    begin
      thrower(random(4))
    rescue RuntimeError
      act(depth - 1)
    ensure
      moment
    end
  when 6 then node.anything(depth - 1)
  when 7 then node.send(:defined, depth - 1)
  when 8 then "a #{node} b"
  when 9 then node.method(:call).to_proc.call(1)
  when 10 then [1].map(&node.method(:call))
  when 11 then 1 + node
  when 12 then node.public_send(:nested, 1)
  when 13 then "xaxa".gsub("a") { act(1); "b" }
  when 14 then Hash.new { |h, k| act(1); h[k] = k }[1]
  when 15
    fiber = Fiber.new { act(depth - 1); Fiber.yield; act(1) }
    fiber.resume
    act(1)
    fiber.resume
  when 16
    numbers = Enumerator.new { |y| act(1); y << 1; moment; y << 2 }
    numbers.next
    moment
    numbers.next
  when 17 then catch(:done) { act(depth - 1); throw :done }
  when 18 then node.instance_eval { act(1) }
  when 19 then Thread.new { act(1) }.join
  when 20 then retried
  when 21 then inner { |x| act(x) }
  when 22 then node.tap { act(depth - 1) }
  when 23 then lambda { |x| act(x) }.(depth - 1)
  end
end

while $left > 0
  act(4)
  [3, 1].sort_by { |x| moment; x }
  load "./loaded.rb"
end
File.write(ARGV[2], $counts.map { |text, count| "#{count} #{text}\n" }.join)
