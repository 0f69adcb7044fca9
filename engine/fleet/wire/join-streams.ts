import { Duplex, pipeline, type Readable, type Writable } from 'node:stream';

/** Little, because what waits in the joined stream has its place in the order already. */
const BUFFER_BYTES = 16 * 1024;
/** How long the rest may be read after writing has failed, ms. */
const LAST_WORDS_MS = 1000;

/** Joins the two directions of a connection, such as stdout and stdin of a child. A failure destroys both. */
export function joinStreams(readable: Readable, writable: Writable): Duplex {
  const joined = new Duplex({
    highWaterMark: BUFFER_BYTES,
    read: () => void readable.resume(),
    write: (chunk: Buffer, _encoding, onWritten) => passOn([chunk], onWritten),
    writev: (chunks, onWritten) =>
      passOn(
        chunks.map(({ chunk }) => chunk as Buffer),
        onWritten,
      ),
    final: (onFinal) => void writable.end(() => onFinal()),
    destroy(error, onDestroyed) {
      clearTimeout(lastWords);
      readable.destroy();
      writable.destroy();
      resumeWriting(error ?? undefined);
      onDestroyed(error);
    },
  });
  let onWritable: ((error?: Error) => void) | null = null;
  let isBroken = false;
  let lastWords: NodeJS.Timeout | undefined;

  function passOn(chunks: readonly Buffer[], onWritten: (error?: Error | null) => void): void {
    if (isBroken) {
      onWritable = onWritten;
      return;
    }
    writable.cork();
    let isFull = false;
    for (const chunk of chunks) isFull = !writable.write(chunk);
    writable.uncork();
    if (isFull) onWritable = onWritten;
    else onWritten();
  }

  function resumeWriting(error?: Error): void {
    const resume = onWritable;
    onWritable = null;
    resume?.(error);
  }

  /** Lets the last words be read: the input of a child that ends closes before its output was read. */
  function breakWriting(error?: Error): void {
    isBroken = true;
    if (joined.readableEnded) joined.destroy(error);
    lastWords ??= setTimeout(() => joined.destroy(error), LAST_WORDS_MS).unref();
  }

  const destroyJoined = (error?: Error): void => void joined.destroy(error);
  readable.pause();
  readable
    .on('data', (chunk: Buffer) => {
      if (!joined.push(chunk)) readable.pause();
    })
    .on('end', () => joined.push(null))
    .on('error', destroyJoined)
    .on('close', () => {
      if (!readable.readableEnded) destroyJoined();
    });
  writable
    .on('drain', () => resumeWriting())
    .on('error', breakWriting)
    .on('close', () => {
      if (!writable.writableFinished) breakWriting();
    });
  if (readable.readableEnded) joined.push(null);
  else if (readable.destroyed || writable.destroyed) joined.destroy();
  return joined;
}

/** Pipes two connections into each other. An end is passed on; a failure of one destroys both. */
export function pipeBoth(one: Duplex, other: Duplex): void {
  const destroyBoth = (error?: Error | null): void => {
    if (!error) return;
    one.destroy();
    other.destroy();
  };
  // A connection that fails after its end must not end this process.
  for (const stream of [one, other]) stream.on('error', () => undefined);
  pipeline(one, other, destroyBoth);
  pipeline(other, one, destroyBoth);
}
