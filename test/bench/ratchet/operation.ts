/** An operation of the product whose processor time and work are guarded. */
export interface GuardedOperation<Rig> {
  /** Calls per measured block. */
  calls: number;
  /** Calls before the first block, by default two blocks of them. */
  warm?: number;
  call(rig: Rig): Promise<unknown>;
  /** Prepares calls outside the measured blocks. */
  prepare?(rig: Rig, calls: number): Promise<unknown>;
  /** The work that its processor time is compared with, by default the standard work. */
  reference?(rig: Rig): Promise<unknown>;
}

/** The surroundings of some operations, which one process opens and measures. */
export interface GuardedRig<Rig> {
  open(): Promise<Rig>;
  close(rig: Rig): Promise<unknown>;
  /** Running processes whose processor time counts too. */
  pids?(rig: Rig): readonly number[];
  operations: Readonly<Record<string, GuardedOperation<Rig>>>;
}

/** Work that the system or SQLite is asked for, per call. */
export interface CountedWork {
  /** Processes started, of git too. */
  processes: number;
  /** System calls with a path. */
  files: number;
  /** SQL statements of the measured process. */
  statements: number;
  /** Waits for the disk. */
  syncs: number;
  /** Bytes from and to files, sockets and pipes. */
  read: number;
  written: number;
}

export const WORK_KINDS = ['processes', 'files', 'statements', 'syncs', 'read', 'written'] as const;
