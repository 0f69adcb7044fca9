import { join } from 'node:path';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { platform } from '../platform/index.ts';
import { type EngineProcess, readDaemonRecord } from './daemon-record.ts';

const MOST_BYTES = 1024;

const lostPath = (data: string): string => join(data, 'lost-engine.json');

/**
 * Finds the first engine of a data folder that has ended since the boot without a clean stop: its processes may still
 * run. Null for none. Call it if no other engine runs.
 */
export function findLostEngine(data: string): EngineProcess | null {
  const boot = platform.readBootId();
  const earlier = parseLostEngine(readPrivate(lostPath(data), MOST_BYTES));
  const found = earlier?.boot === boot ? earlier : (readDaemonRecord(data)?.process ?? null);
  return found === null || boot === null || found.boot !== boot ? null : found;
}

/** Remembers a lost engine beyond the clean stops of its successors. */
export function keepLostEngine(data: string): EngineProcess | null {
  const lost = findLostEngine(data);
  if (lost !== null) replacePrivate(lostPath(data), JSON.stringify(lost));
  return lost;
}

function parseLostEngine(text: string | null): EngineProcess | null {
  try {
    const lost = JSON.parse(text ?? 'null') as EngineProcess | null;
    return typeof lost?.boot === 'string' && typeof lost.start === 'string' ? lost : null;
  } catch {
    return null;
  }
}
