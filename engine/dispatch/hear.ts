import { setImmediate as turn } from 'node:timers/promises';
import { isSessionLoss, NO_FACTS, type StreamFacts, type StreamReader } from '../agents/index.ts';
import { readLog } from '../runner/processes/index.ts';
import { sound } from './sound.ts';

const BLOCK = 1024 * 1024;
/** A longer line is nothing that an agent says on purpose, and is not kept in memory. */
const LONGEST_LINE = 16 * BLOCK;

/** Follows what one run prints, and knows what it has said of itself so far. */
export interface Hearing {
  /** Reads what is new, at most a few mebibytes. */
  look(): void;
  /** Reads all that is there, also a last line without its newline. */
  finish(): Promise<void>;
  facts(): StreamFacts;
  /** It was to go on with a session that the agent does not have. */
  hasLost(): boolean;
  /** It has printed something that is not blank. */
  hasSpoken(): boolean;
}

/** @param from where the run's output begins in the log, in bytes */
export function createHearing(file: string, from: number, reader: StreamReader | null): Hearing {
  let next = from;
  let begun = '';
  /** In a line that is too long: its rest is none of its own. */
  let isLost = false;
  let hasLost = false;
  let hasSpoken = false;

  /** False when there was nothing more. */
  function read(to: StreamReader): boolean {
    const part = readLog(file, { from: next, maxBytes: BLOCK });
    if (part.next <= next && part.dropped === 0) return false;
    // What was cut away in between leaves half a line at most.
    if (part.dropped > 0) {
      begun = '';
      isLost = false;
    }
    next = part.next;
    const lines = (begun + part.text).split('\n');
    begun = lines.pop() ?? '';
    if (lines.length > 0 && isLost) {
      lines.shift();
      isLost = false;
    }
    if (isLost || begun.length > LONGEST_LINE) {
      begun = '';
      isLost = true;
    }
    for (const line of lines) {
      to.readLine(line);
      hasSpoken ||= line.trim() !== '';
      hasLost ||= isSessionLoss(line);
    }
    return true;
  }

  return {
    look() {
      if (reader === null) return;
      for (let blocks = 0; blocks < 4 && read(reader); blocks += 1);
    },
    async finish() {
      if (reader === null) return;
      // Others have their turn between two blocks.
      while (read(reader)) await turn();
      if (begun !== '') reader.readLine(begun);
      hasSpoken ||= begun.trim() !== '';
      begun = '';
    },
    facts: () => sound(reader?.facts() ?? NO_FACTS),
    hasLost: () => hasLost,
    hasSpoken: () => hasSpoken,
  };
}
