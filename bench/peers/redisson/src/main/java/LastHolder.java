import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file that names the last holder of the shared lock. */
class LastHolder {
    private final FileChannel file;
    private final long process = ProcessHandle.current().pid() * 65536;

    LastHolder(String path) throws IOException {
        file = FileChannel.open(
                Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Whether the lock was another's before. */
    boolean takeOver(int worker) {
        try {
            ByteBuffer name = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            file.read(name, 0);
            if (name.getLong(0) == process + worker) return false;
            file.write(name.putLong(0, process + worker).position(0).limit(8), 0);
            return true;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
