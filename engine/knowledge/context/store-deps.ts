import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';

export interface TextStoreDeps {
  storage: Storage;
  clock: Clock;
  /** Returns how long an unread text is kept, ms; 0 until its space is needed. */
  idleMs(): number;
  /** Maximum bytes of all texts together. */
  mostBytes: number;
  /** Removes the file of a text, after the commit that ended it. */
  removeFile(hash: string): void;
}
