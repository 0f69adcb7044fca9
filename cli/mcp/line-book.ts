/** A line of the client that is not answered yet. */
export interface PendingLine {
  text: string;
  /** From here on an engine may have received it. */
  isSent: boolean;
  /** `due`: its answer is due; `waits`: for a person or worker; `listens`: it is a subscription, which has no answer. */
  state: 'due' | 'waits' | 'listens';
}

export interface LineBookDeps {
  /** Writes a message to the client. */
  write(text: string): void;
  /** Writes a note to the error output. */
  note(text: string): void;
  /** Called when the number of lines whose answer is due has changed. */
  onDue(due: number): void;
}

/** The lines of one MCP client that an engine still needs. */
export interface LineBook {
  /** Adds a line; returns its number. */
  add(text: string, isSent: boolean): number;
  /** Receives a frame of an engine. */
  receiveFrame(frame: string): void;
  /** Builds the frames that an engine needs to continue, with all pending lines or those that pass `test`. */
  buildFrames(test?: (line: PendingLine) => boolean): string[];
  /** Called before a new engine gets the frames. */
  beginEngine(): void;
  hasPending(test?: (line: PendingLine) => boolean): boolean;
  /** Reports whether the client follows something, so that it needs an engine without having sent anything. */
  followsSome(): boolean;
  /** Up to which event the client has been notified; null if it follows nothing. */
  point(): string | null;
  due(): number;
}

/** Creates the book of one client. The frames are described in engine/daemon/mcp/pipe.ts. */
export function createLineBook({ write, note, onDue }: LineBookDeps): LineBook {
  let count = 0;
  const pending = new Map<number, PendingLine>();
  /** The number of pending lines whose answer is due. */
  let due = 0;
  /** Lines that set up a connection, which each engine needs; those of subscriptions also here. */
  const kept = new Map<number, string>();
  const subscriptions = new Set<number>();
  let point: string | null = null;
  /** The next point; valid once the engine has set up again what an earlier one did. */
  let nextPoint: string | null = null;
  /** Lines of that kind which the engine has not confirmed. */
  const unconfirmed = new Set<number>();

  function changeDue(change: 1 | -1): void {
    due += change;
    onDue(due);
  }

  function setState(line: PendingLine, state: PendingLine['state']): void {
    const wasDue = line.state === 'due';
    line.state = state;
    if (wasDue && state !== 'due') changeDue(-1);
  }

  function confirm(n: number | null): void {
    if (n !== null) unconfirmed.delete(n);
    if (unconfirmed.size === 0) point = nextPoint;
  }

  /** Receives a frame about a line. */
  function receiveAbout(kind: string, n: number, text: string): void {
    if (unconfirmed.has(n)) confirm(n);
    const line = pending.get(n);
    // A kept line was sent again: its answer is not wanted.
    if (line === undefined) return;
    if (kind === 'w') setState(line, 'waits');
    else if (kind === 'l') {
      if (line.state !== 'listens') write(text);
      setState(line, 'listens');
    } else {
      if (kind === 'k' || kind === 's') kept.set(n, line.text);
      if (kind === 's') subscriptions.add(n);
      if (text !== '') write(text);
      pending.delete(n);
      if (line.state === 'due') changeDue(-1);
    }
  }

  return {
    add(text, isSent) {
      count += 1;
      pending.set(count, { text, isSent, state: 'due' });
      changeDue(1);
      return count;
    },
    receiveFrame(frame) {
      const kind = frame.charAt(0);
      const end = frame.indexOf(' ');
      const n = Number(frame.slice(1, end < 0 ? undefined : end));
      const text = end < 0 ? '' : frame.slice(end + 1);
      if (kind === 'n') write(text);
      else if (kind === 'e') note(text);
      else if (kind === 'p') {
        nextPoint = text === '' ? null : text;
        confirm(null);
      } else if (kind === 'f') {
        kept.delete(n);
        subscriptions.delete(n);
      } else receiveAbout(kind, n, text);
    },
    buildFrames(test = () => true) {
      const frames = [...kept].map(([n, text]) => `r${n} ${text}`);
      for (const [n, line] of pending) {
        if (!test(line)) continue;
        frames.push(`${line.isSent ? 'r' : ''}${n} ${line.text}`);
        line.isSent = true;
      }
      return frames;
    },
    beginEngine() {
      unconfirmed.clear();
      for (const n of kept.keys()) unconfirmed.add(n);
      for (const [n, { state }] of pending) if (state === 'listens') unconfirmed.add(n);
      nextPoint = point;
    },
    hasPending: (test = () => true) => [...pending.values()].some(test),
    followsSome: () =>
      subscriptions.size > 0 || [...pending.values()].some(({ state }) => state === 'listens'),
    point: () => point,
    due: () => due,
  };
}
