"""Lines to the members of a run, through which later connections come slowly."""
import socket
import threading
import time

CHUNK = 16 * 1024


class SlowLines:
    """Stands before each node of a harness.Run: the manifest names its ports. REQUIRES: nothing of the run is started."""

    def __init__(self, run):
        self.rate = None  # bytes a second to whoever connects from then on; None: as fast as it goes
        self.sent = 0     # bytes over slow lines
        self.listeners = []
        for target in run.sockets:
            listener = socket.create_server(("127.0.0.1", 0))
            self.listeners.append(listener)
            port = target.getsockname()[1]
            run.replace(f"127.0.0.1:{port}", f"127.0.0.1:{listener.getsockname()[1]}")
            threading.Thread(target=self._accept, args=(listener, port), daemon=True).start()

    def close(self):
        for listener in self.listeners:
            listener.close()

    def _accept(self, listener, port):
        while True:
            try:
                dialer, _ = listener.accept()
                node = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return  # the test is over
            threading.Thread(target=self._line, args=(dialer, node, self.rate), daemon=True).start()

    def _line(self, dialer, node, rate):
        with dialer, node:
            upward = threading.Thread(target=self._pump, args=(dialer, node, None), daemon=True)
            upward.start()
            self._pump(node, dialer, rate)
            upward.join()

    def _pump(self, source, sink, rate):
        free = time.monotonic()
        try:
            while data := source.recv(CHUNK):
                if rate:
                    self.sent += len(data)
                    free = max(free, time.monotonic()) + len(data) / rate
                    time.sleep(max(0, free - time.monotonic()))
                sink.sendall(data)
        except OSError:
            pass  # either side is gone, and so is the other
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
