import { type CountedWork, WORK_KINDS } from './operation.ts';

type SystemWork = Omit<CountedWork, 'statements'>;

/** A path of no file: a look at it marks the begin or end of a block in the trace. */
export const markPath = (edge: 'begin' | 'end', operation: string, block: number): string =>
  `/svc-bench/${edge}/${encodeURIComponent(operation)}/${block}`;

const MARK = /"\/svc-bench\/(begin|end)\/([^/"]+)\/(\d+)"/;
const STARTS = /^(?:clone3?|v?fork)$/;
const SYNCS = /^f(?:data)?sync$/;
const READS = /^(?:p?readv?(?:64)?2?|recvfrom|recvmsg)$/;
const WRITES = /^(?:p?writev?(?:64)?2?|sendto|sendmsg|sendfile|copy_file_range)$/;

/** System calls that the trace has. */
export const TRACED = [
  '%file',
  'clone,?clone3,?fork,?vfork,fsync,fdatasync',
  'read,readv,pread64,preadv,recvfrom,recvmsg',
  'write,writev,pwrite64,pwritev,sendto,sendmsg,sendfile,copy_file_range',
].join(',');

/** The first text, if it is not empty as for a file that is open. */
const PATH = /^[^"]*"[^"]/;
/** The engine's search for orphans to reap, once a second. */
const REAPING = '"/proc/self/task';
/** Wake-ups of threads. */
const WAKING = /^\d+<anon_inode:/;

const createEmptyWork = (): SystemWork => ({ processes: 0, files: 0, syncs: 0, read: 0, written: 0 });

function addCall(work: SystemWork, name: string, args: string, result: number): void {
  if (STARTS.test(name)) {
    if (result > 0 && !args.includes('CLONE_THREAD')) work.processes += 1;
  } else if (SYNCS.test(name)) work.syncs += 1;
  else if (READS.test(name) || WRITES.test(name)) {
    if (result > 0 && !WAKING.test(args)) work[READS.test(name) ? 'read' : 'written'] += result;
  } else if (PATH.test(args) && !args.includes(REAPING)) work.files += 1;
}

/** Returns the work in each block of a trace of `strace -f -y`, by operation. */
export function readTrace(text: string): Map<string, SystemWork[]> {
  const blocks = new Map<string, SystemWork[]>();
  /** Calls that another thread's call interrupted, by thread. */
  const begun = new Map<string, string>();
  let open: SystemWork | null = null;
  for (const line of text.split('\n')) {
    const [, thread = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (said.endsWith('<unfinished ...>')) {
      begun.set(thread, said.slice(0, -' <unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(said);
    const whole = resumed === null ? said : `${begun.get(thread) ?? ''}${resumed[1]}`;
    const [, name = '', args = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+|\?)/.exec(whole) ?? [];
    if (name === '') continue;
    const [, edge, operation = ''] = MARK.exec(args) ?? [];
    if (edge === 'begin') {
      open = createEmptyWork();
      const key = decodeURIComponent(operation);
      blocks.set(key, [...(blocks.get(key) ?? []), open]);
    } else if (edge === 'end') open = null;
    else if (open !== null) addCall(open, name, args, Number(result));
  }
  return blocks;
}

/**
 * Returns the least work of the blocks, per call: what else the process does, such as its checks once a
 * second, only adds to it.
 */
export function findLeastWork(blocks: readonly CountedWork[], calls: number): CountedWork {
  const least = (kind: keyof CountedWork): number =>
    Math.round((10 * Math.min(...blocks.map((block) => block[kind]))) / calls) / 10;
  return Object.fromEntries(WORK_KINDS.map((kind) => [kind, least(kind)])) as unknown as CountedWork;
}
