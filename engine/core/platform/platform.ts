import type { Socket } from 'node:net';
import type { Containment, ContainmentDeps } from './containment.ts';
import type { SandboxSource } from './sandbox/index.ts';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  pgid: number;
  /** Its session (setsid(2)): the pid of the process that created it. */
  sid: number;
  /** True for an ended process that has not been waited for: it cannot act and cannot be killed. */
  zombie: boolean;
  /** Start time: clock ticks since boot on Linux, epoch seconds on macOS. Together with the pid it identifies one process. */
  start: string;
}

/** A process's cgroup and pid namespace. Unlike its environment these can be read for every user's processes. */
export interface ProcessPlace {
  /** Its version 2 cgroup, as a path below the root of that hierarchy; null when there is none. */
  cgroup: string | null;
  /** True if it is in a pid namespace below that of this process. */
  isNested: boolean;
}

/** This machine's process table. A failed check is `unknown` or null, never "gone" (R6). */
export interface ProcessTable {
  read(pid: number): ProcessEntry | 'gone' | 'unknown';
  /** Lists every process, or null if the table cannot be read. */
  list(): Promise<ProcessEntry[] | null>;
  /** The same at once, which blocks for longer. */
  listNow(): ProcessEntry[] | null;
  /** Lists the pids of every process, or null if the table cannot be read. */
  listPids(): number[] | null;
  /** Returns a variable of the process's initial environment; null also if unreadable. */
  readVariable(pid: number, name: string): string | null;
  /** Returns that variable of each of these processes that has it and can be read. */
  readVariables(pids: readonly number[], name: string): Map<number, string>;
  /** Returns the name of its program, which it may have changed; null if it has ended. */
  readName(pid: number): string | null;
  /** Returns its program and arguments; null if it has ended or cannot be read. */
  readArguments(pid: number): string[] | null;
  /** Returns its current folder; null if it has ended or cannot be read. */
  readFolder(pid: number): string | null;
  /** Maps pids to the current folder of every process that this one may inspect; null if that cannot be read. */
  readFolders(): Map<number, string> | null;
  /** Returns its memory in bytes; 0 if it has ended or cannot be read. */
  readMemory(pid: number): number;
  /** Returns the login that a process belongs to, as the kernel numbers them (pam_loginuid(8)); null for none. */
  readLogin(pid: number): string | null;
  /** Reports whether it adopts orphans as init does: init itself, or a user's service manager. */
  adoptsOrphans(pid: number): boolean;
  /** Returns the kernel's location of the process; null if it is gone, or the machine does not report it. */
  findPlace(pid: number): ProcessPlace | null;
  /** Reports whether processes of other users are invisible here. */
  hidesOthers(): boolean;
}

/** Node's data of an accepted connection. */
export interface TcpEnds {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/** Finds this user's processes by their loopback sockets. */
export interface SocketOwners {
  /** Finds those that listen on a port; none if this machine does not report them. */
  findPortOwners(port: number): Promise<number[]>;
  /**
   * Finds those that hold the other end of a connection; none if this machine does not report them, or if they belong
   * to another user. A search looks at every process, so call it once per connection and not per request.
   */
  findConnectionOwners(ends: TcpEnds): Promise<number[]>;
}

/** The process at the other end of a local socket, as the kernel recorded it when it connected. */
export interface SocketPeer {
  pid: number;
  uid: number;
}

/** Kernel calls that Node does not offer. */
export interface KernelCalls {
  /** Returns null if this platform does not report it. */
  peerOf(socket: Socket): SocketPeer | null;
  /**
   * Makes orphans below this process its own children instead of init's, so that left-over processes of a run or
   * program can still be traced here, and reaps them. Returns the function that stops this.
   */
  adoptOrphans(): () => void;
  /** Explains why this does not work here; null if it does. */
  problem: string | null;
}

/** Something that svc uses of the operating system. */
export interface Capability {
  name: string;
  /** How it is done here; null if it is not possible. */
  way: string | null;
  /** The difference that its absence makes. */
  otherwise: string;
}

/** Everything that differs by operating system. */
export interface Platform {
  name: 'linux' | 'darwin';
  /** How some of this is done here, for people. */
  ways: {
    processTable: string;
    fileWatch: string;
    /** The mechanism that contains runs better than marks; null if there is none. */
    containment: string | null;
  };
  /** Names the system with its version: `linux 6.12`, `macOS 15.1`. */
  readVersion(): string;
  /** Returns the C library of this Node; null where there is only one, or if it is unknown. */
  findLibc(): 'glibc' | 'musl' | null;
  processes: ProcessTable;
  sockets: SocketOwners;
  /** Determines at the first run what this machine offers to contain the processes of runs. */
  createContainment(deps: ContainmentDeps): Containment;
  /** Confines workers. */
  sandbox: SandboxSource;
  /** Tries the rights that containment and the sandbox need, with the programs on a search path; empty where neither exists. */
  tryRights(path: string | undefined): Promise<Capability[]>;
  /**
   * Loads the C library through koffi. Node cannot identify the other end of a local socket, and a client's own claims
   * are not trusted. Never throws; see `problem`.
   */
  loadKernel(): Promise<KernelCalls>;
  /**
   * Swaps two folders of one file system in one step: both names exist at all times. Returns false, without any change,
   * if the system or the file system does not support it.
   */
  exchangeFolders(one: string, other: string): Promise<boolean>;
  /**
   * Returns memory that the C library keeps for later allocations to the system: freed buffers of a load are between
   * buffers still in use, and would be kept forever. Only glibc has a call for it; elsewhere nothing is done.
   */
  trimAllocator(): Promise<void>;
  /** A folder whose entries are this process's open files, where a path can start at one; null if there is none. */
  openFiles: string | null;
  /** Identifies the current boot, within which start times of processes are comparable; null if unknown. */
  readBootId(): string | null;
  /** Returns the command that shows a notice to the person of an environment, without text in a script; null if there is none. */
  buildNotice(env: NodeJS.ProcessEnv, words: { title: string; text: string }): [string, ...string[]] | null;
  /** Returns the program that opens a page in a browser; null without a display. */
  findOpener(env: NodeJS.ProcessEnv): string | null;
  /** Returns the name of a network file system, where locks are unreliable, by its type of statfs(2); null for a local one. */
  findNetworkFileSystem(type: number): string | null;
  /** Returns what starts a person's services at login; null if nothing known runs here. */
  findServiceManager(): 'systemd' | 'launchd' | null;
}
