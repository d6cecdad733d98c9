import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * A program with clients of a messaging system that obeys orders: a line of words between tabs on standard input each,
 * answered by one on standard output, which begins with "ok" or "failed". It ends at once when its input ends.
 *
 * consume NAME GROUP TOPIC,TOPIC... STRATEGY HOW: start a consumer of that name
 * holds NAME: what it holds now, a word "TOPIC PARTITION" each
 * hang NAME, resume NAME: it takes no more records, but stays; it takes them again
 * close NAME: it leaves in good order
 * topic TOPIC PARTITIONS: create it
 * send TOPIC COUNT: so many records, to its partitions in turn; returns when the broker has them
 * produce TOPIC COUNT: so many every second from now on, until another number is given
 *
 * A program may know more of them, and says which.
 */
public abstract class Orders {
    final Map consumers = new HashMap();
    final Map producing = new HashMap();

    /** A consumer; it counts what it takes and, when it hangs, takes nothing. */
    abstract static class Consumer {
        private boolean hangs = false;

        /** Called by the client for what it takes: waits while it hangs. */
        synchronized void take() throws InterruptedException {
            while (hangs) {
                wait();
            }
        }

        synchronized void hang(boolean hangs) {
            this.hangs = hangs;
            notifyAll();
        }

        /** What it holds, as lines "TOPIC PARTITION". */
        abstract List holds() throws Exception;

        abstract void close() throws Exception;
    }

    abstract Consumer consumer(String name, String group, String[] topics, String strategy, String how)
        throws Exception;

    abstract void createTopic(String topic, int partitions) throws Exception;

    abstract void send(String topic, int count) throws Exception;

    /** An order that only this program knows; the words of its answer, each after a tab. */
    String obeyedHere(String[] words) throws Exception {
        throw new IllegalArgumentException("unknown order: " + words[0]);
    }

    void obey() {
        PrintStream answers = System.out;
        System.setOut(System.err); // what libraries say must not get between the answers
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
            answers.println("ok\tready");
            String line;
            while ((line = lines.readLine()) != null) {
                String answer;
                try {
                    answer = "ok" + obeyed(line.split("\t", -1));
                } catch (Throwable error) {
                    error.printStackTrace();
                    answer = "failed\t" + String.valueOf(error).replace('\n', ' ').replace('\t', ' ');
                }
                answers.println(answer);
                answers.flush();
            }
        } catch (Throwable error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(0);
    }

    private String obeyed(String[] words) throws Exception {
        String what = words[0];
        String name = words[1];
        if (what.equals("consume")) {
            consumers.put(name, consumer(name, words[2], words[3].split(","), words[4], words[5]));
        } else if (what.equals("holds")) {
            StringBuffer answer = new StringBuffer();
            for (Iterator held = named(name).holds().iterator(); held.hasNext();) {
                answer.append('\t').append(held.next());
            }
            return answer.toString();
        } else if (what.equals("hang")) {
            named(name).hang(true);
        } else if (what.equals("resume")) {
            named(name).hang(false);
        } else if (what.equals("close")) {
            Consumer leaving = named(name);
            consumers.remove(name);
            leaving.hang(false);
            leaving.close();
        } else if (what.equals("topic")) {
            createTopic(name, Integer.parseInt(words[2]));
        } else if (what.equals("send")) {
            send(name, Integer.parseInt(words[2]));
        } else if (what.equals("produce")) {
            produce(name, Integer.parseInt(words[2]));
        } else {
            return obeyedHere(words);
        }
        return "";
    }

    final Consumer named(String name) {
        Consumer found = (Consumer) consumers.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no consumer is called " + name);
        }
        return found;
    }

    private void produce(final String topic, int perSecond) {
        synchronized (producing) {
            boolean already = producing.containsKey(topic);
            producing.put(topic, new Integer(perSecond));
            if (already) {
                return;
            }
        }
        Thread thread = new Thread("producer of " + topic) {
            public void run() {
                while (true) {
                    try {
                        int count;
                        synchronized (producing) {
                            count = ((Integer) producing.get(topic)).intValue();
                        }
                        long due = System.currentTimeMillis() + 1000;
                        send(topic, count);
                        Thread.sleep(Math.max(1, due - System.currentTimeMillis()));
                    } catch (Throwable error) {
                        error.printStackTrace();
                        try {
                            Thread.sleep(1000);
                        } catch (InterruptedException ended) {
                            return;
                        }
                    }
                }
            }
        };
        thread.setDaemon(true);
        thread.start();
    }
}
