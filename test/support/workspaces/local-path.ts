import assert from 'node:assert/strict';
import { findLocalPath } from '../../../engine/index.ts';

/** Returns a path of a session that has to be on this machine. */
export function requireLocalPath(path: Parameters<typeof findLocalPath>[0] | undefined): string {
  const found = findLocalPath(path ?? null);
  assert.ok(found !== null, 'the session has a path on this machine');
  return found;
}
