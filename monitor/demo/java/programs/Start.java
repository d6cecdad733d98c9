import java.io.File;
import java.util.Arrays;

import org.codehaus.janino.JavaSourceClassLoader;

/** Compiles the sources of a folder in memory, as they are asked for, and runs one: a JRE has no javac. */
public class Start {
    /** Takes the folder, the name of the class, and what the class takes. */
    public static void main(String[] args) throws Exception {
        ClassLoader sources = new JavaSourceClassLoader(
            Start.class.getClassLoader(), new File[] {new File(args[0])}, "UTF-8");
        sources.loadClass(args[1])
            .getMethod("main", new Class[] {String[].class})
            .invoke(null, new Object[] {Arrays.copyOfRange(args, 2, args.length)});
    }
}
