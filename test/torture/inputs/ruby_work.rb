require "json"
a = (0...20000).map { |i| {"k#{i % 997}" => [i.to_s * 3, i]} }
puts a.group_by { |h| h.keys[0] }.size, JSON.generate(a).size
f = Fiber.new { 1000.times { |i| Fiber.yield "x" * i } ; nil }
n = 0
while (s = f.resume) do n += s.size end
puts n
fibers = (0...200).map { |i| Fiber.new { Fiber.yield "f" * i; i } }
puts fibers.sum { |x| x.resume.size }, fibers.sum(&:resume)
puts (0...4).map { |i| Thread.new { (0...3000).map { |k| "#{i}#{k}" }.join.size } }.map(&:value).sum
def deep(n) = deep(n + 1)
begin; deep(0); rescue SystemStackError => e; puts e.message; end
pid = fork { GC.start; puts "child"; exit! 3 }
Process.wait(pid); puts $?.exitstatus
puts `echo from a child`
GC.stress = true; 20.times { "a" + "b" }; GC.stress = false
GC.start; GC.compact
puts "aé".encode("UTF-16").bytes.size, ("a".."zz").to_a.join =~ /(z+)\z/
trap("USR1") { puts "trapped" }; Process.kill("USR1", $$); sleep 0.1
at_exit { puts "leaving" }
exit 6
