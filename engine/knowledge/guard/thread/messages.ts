import type { GitAccess } from '../../../workers/runner/worktrees/index.ts';
import type { SourceLanguage } from '../../sources/index.ts';
import type { CopySettings } from '../copies/settings.ts';
import type { WantedChecks, WriteCheck, WriteReport } from '../writes/check-writes.ts';

/** The start parameters of the thread. */
export interface GuardThreadSettings {
  /** The file of fingerprints, absolute. */
  file: string;
  copies: CopySettings;
  git: GitAccess;
  /** Excluded folders, absolute. */
  without: string[];
  parsers: Record<string, string>;
  /** Languages whose files come first; empty for the most frequent ones. */
  primary: SourceLanguage[];
}

/** The calls of the thread by name: arguments and results. */
export interface GuardCalls {
  check: { takes: WriteCheck; answers: WriteReport };
  /** Checks files as they are, treating all content as new; a folder stands for all of its sources. Reads changes first. */
  checkFiles: { takes: { root: string; paths: string[]; wanted: WantedChecks }; answers: FileReport };
  /** Reads the changes of a folder, and waits for it. */
  refresh: { takes: { root: string }; answers: ProjectState };
  /** Reads files that were written. */
  touch: { takes: { root: string; paths: string[] }; answers: null };
}

export interface FileReport extends WriteReport {
  /** Named paths that are not sources of the project. */
  unread: string[];
}

export interface ProjectState {
  files: number;
  isWhole: boolean;
  /** Files by language, most first. */
  languages: [SourceLanguage, number][];
}
