def build(n) = n.zero? ? [] : [build(n - 1), "x" * n, { n => build(n - 1) }]
20.times { build(9) }
puts build(3).inspect.size
100.times { |i| begin; raise "e#{i}"; rescue => e; e.backtrace.size; end }
puts (0..3000).map { |i| "#{i}".to_sym.to_proc rescue nil }.compact.size
