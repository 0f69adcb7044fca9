import type { GitAccess } from '../../../workers/runner/worktrees/index.ts';
import type { Language } from '../../sources/index.ts';
import type { CopySettings } from '../copies/settings.ts';
import type { WantedChecks, WriteCheck, WriteReport } from '../writes/check-writes.ts';

/** What the thread is started with. */
export interface GuardThreadSettings {
  /** The file of fingerprints, absolute. */
  file: string;
  copies: CopySettings;
  git: GitAccess;
  /** Folders that are never looked into, absolute. */
  without: string[];
  parsers: Record<string, string>;
  /** Languages whose files come first; none for those with most files. */
  primary: Language[];
}

/** What is asked of the thread, by its name: what it takes and answers. */
export interface GuardCalls {
  check: { takes: WriteCheck; answers: WriteReport };
  /** Checks files as they are, all of each as new; a folder is all of its sources. Reads what has changed before that. */
  checkFiles: { takes: { root: string; paths: string[]; wanted: WantedChecks }; answers: FileReport };
  /** Reads what has changed in a folder, and waits for it. */
  refresh: { takes: { root: string }; answers: ProjectState };
  /** Reads files that were written. */
  touch: { takes: { root: string; paths: string[] }; answers: null };
}

export interface FileReport extends WriteReport {
  /** Of those that were named, what is no source of the project's own. */
  unread: string[];
}

export interface ProjectState {
  files: number;
  isWhole: boolean;
  /** Files by language, most first. */
  languages: [Language, number][];
}
