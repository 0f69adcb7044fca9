import { setImmediate as turn } from 'node:timers/promises';
import { isSessionLoss, NO_FACTS, type StreamFacts, type StreamReader } from '../../agents/index.ts';
import { readLog } from '../processes/index.ts';
import { sanitizeFacts } from './sanitize-facts.ts';

const BLOCK = 1024 * 1024;
/** A longer line is not intentional output of an agent, and is not kept in memory. */
const LONGEST_LINE = 16 * BLOCK;

/** Reads the output of one run, and collects the facts that it reports. */
export interface RunOutput {
  /** Reads new output, at most a few mebibytes. */
  readNew(): void;
  /** Reads all available output, including a last line without its newline. */
  readRest(): Promise<void>;
  facts(): StreamFacts;
  /** True if it should resume a session that the agent does not have. */
  hasLostSession(): boolean;
  /** True if it has printed something that is not blank. */
  hasSpoken(): boolean;
}

/** @param from where the run's output starts in the log, in bytes */
export function createRunOutput(file: string, from: number, reader: StreamReader | null): RunOutput {
  let next = from;
  let begun = '';
  /** True in a line that is too long: its rest is not a separate line. */
  let isCut = false;
  let hasLostSession = false;
  let hasSpoken = false;

  /** False if there was nothing more. */
  function readOutput(to: StreamReader): boolean {
    const part = readLog(file, { from: next, maxBytes: BLOCK });
    if (part.next <= next && part.dropped === 0) return false;
    // A cut in between leaves half a line at most.
    if (part.dropped > 0) {
      begun = '';
      isCut = false;
    }
    next = part.next;
    const lines = (begun + part.text).split('\n');
    begun = lines.pop() ?? '';
    if (lines.length > 0 && isCut) {
      lines.shift();
      isCut = false;
    }
    if (isCut || begun.length > LONGEST_LINE) {
      begun = '';
      isCut = true;
    }
    for (const line of lines) {
      to.readLine(line);
      hasSpoken ||= line.trim() !== '';
      hasLostSession ||= isSessionLoss(line);
    }
    return true;
  }

  return {
    readNew() {
      if (reader === null) return;
      for (let blocks = 0; blocks < 4 && readOutput(reader); blocks += 1);
    },
    async readRest() {
      if (reader === null) return;
      // Other work gets a turn between two blocks.
      while (readOutput(reader)) await turn();
      if (begun !== '') reader.readLine(begun);
      hasSpoken ||= begun.trim() !== '';
      begun = '';
    },
    facts: () => sanitizeFacts(reader?.facts() ?? NO_FACTS),
    hasLostSession: () => hasLostSession,
    hasSpoken: () => hasSpoken,
  };
}
