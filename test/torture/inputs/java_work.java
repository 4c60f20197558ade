import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

public class Work {
    static int deep(int n) { return deep(n + 1) + 1; }
    static class Box { int v; Box next; }
    static int implicit(Box b) { return b.next.v; }

    public static void main(String[] args) throws Exception {
        int overflows = 0, nulls = 0;
        for (int i = 0; i < 5; i++) try { deep(0); } catch (StackOverflowError e) { overflows++; }
        for (int i = 0; i < 100000; i++)
            try { implicit(new Box()); } catch (NullPointerException e) { nulls++; }
        System.out.println(overflows + " " + nulls);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Integer>> results = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            final int seed = t;
            results.add(pool.submit(() -> {
                Map<String, List<byte[]>> m = new HashMap<>();
                Random r = new Random(seed);
                for (int i = 0; i < 100000; i++)
                    m.computeIfAbsent("k" + r.nextInt(500), k -> new ArrayList<>())
                        .add(new byte[r.nextInt(100)]);
                return m.size();
            }));
        }
        for (Future<Integer> f : results) System.out.println(f.get());
        Deflater d = new Deflater(); d.setInput(new byte[1000000]); d.finish();
        System.out.println(d.deflate(new byte[100000]));
        d.end();
        System.out.println(java.nio.ByteBuffer.allocateDirect(1 << 20).capacity());
        Process p = new ProcessBuilder("sh", "-c", "echo from a child; exit 4").inheritIO().start();
        System.out.println(p.waitFor());
        try {
            byte[][] hold = new byte[100000][];
            for (int i = 0; ; i++) hold[i] = new byte[1 << 20];
        } catch (OutOfMemoryError e) { System.out.println("no more"); }
        Thread t = new Thread(() -> { for (;;) new Object(); }); t.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("leaving")));
        System.exit(9);
    }
}
