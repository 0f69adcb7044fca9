import { isInsideFolder } from '../../../base/paths.ts';
import { findShownAs, type MountedPlace } from '../../sandbox/index.ts';
import { listOpenPaths, listTold, TRIAL_SCRIPT } from '../../sandbox/trial.ts';

/** Reports the mounts before the paths. */
const SCRIPT = `while IFS= read -r line; do printf 'mount %s\\n' "$line"; done < /proc/self/mountinfo
${TRIAL_SCRIPT}`;

/** Kernel settings that could lead to root outside, and cgroups. */
const OF_KERNEL = [
  ...[
    'kernel/core_pattern',
    'kernel/modprobe',
    'kernel/hotplug',
    'kernel/poweroff_cmd',
    'vm/drop_caches',
  ].map((name) => `/proc/sys/${name}`),
  ...[
    '/proc/sys/fs/binfmt_misc/register',
    '/proc/sysrq-trigger',
    '/proc/irq/default_smp_affinity',
    '/proc/mtrr',
  ],
  ...['/sys/kernel/uevent_helper', '/sys/kernel/profiling', '/sys/power/state', '/sys/kernel/debug'],
  ...[
    '/sys/kernel/security',
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/unified',
    '/sys/fs/cgroup/memory/release_agent',
  ],
];

export interface ProbeWish {
  /** The rules of the sandbox. */
  places: readonly MountedPlace[];
  /** Paths that must not be writable, in addition to kernel settings. */
  readOnly: readonly string[];
  /** Paths that must not be visible. */
  unseen: readonly string[];
}

/** Builds the command to run inside. */
export const buildProbeCommand = ({ readOnly, unseen }: Pick<ProbeWish, 'readOnly' | 'unseen'>): string[] => [
  ...['/bin/sh', '-c', SCRIPT, 'svc'],
  ...OF_KERNEL,
  ...readOnly,
  '--',
  ...unseen,
];

interface Mount {
  id: string;
  parent: string;
  path: string;
  isWritable: boolean;
}

/** Parses a line of mountinfo; see proc(5). Null for anything else. */
function parseMount(line: string): Mount | null {
  const [id, parent, , , path, options, ...rest] = line.split(' ');
  if (id === undefined || parent === undefined || path === undefined || options === undefined) return null;
  const ofAll = rest.slice(rest.indexOf('-') + 1)[2] ?? '';
  const isWritable = [options, ofAll].every((each) => !each.split(',').includes('ro'));
  const plain = path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return { id, parent, path: plain, isWritable };
}

/** Selects mounts that a path can reach, not those below another mount. */
function selectReachable(mounts: readonly Mount[]): Mount[] {
  const byId = new Map(mounts.map((mount) => [mount.id, mount]));
  return mounts.filter((mount) => {
    let below: Mount | null = null;
    for (let at: Mount | undefined = mount; at !== undefined; below = at, at = byId.get(at.parent)) {
      const self = at;
      const isCovered = mounts.some(
        (other) =>
          other !== self &&
          other.id !== other.parent &&
          ((other.parent === self.id && other.path === self.path && other !== below) ||
            (other.parent === self.parent &&
              other.path !== self.path &&
              isInsideFolder(other.path, self.path))),
      );
      if (isCovered) return false;
      if (at.parent === at.id) break;
    }
    return true;
  });
}

/** Created for the sandbox itself. */
const isSandboxOwn = (path: string): boolean => path === '/proc' || isInsideFolder('/dev', path);

/** Lists what is open in a sandbox but should not be, one sentence each, from the probe's output. */
export function findOpenings(told: string, { places }: Pick<ProbeWish, 'places'>): string[] {
  const mounts = listTold(told, 'mount').flatMap((line) => parseMount(line) ?? []);
  if (mounts.length === 0) return ['it does not report its mounts'];
  const writable = selectReachable(mounts).filter(
    ({ path, isWritable }) =>
      isWritable && !isSandboxOwn(path) && !['write', 'empty'].includes(findShownAs(path, places)),
  );
  return [...writable.map(({ path }) => `${path} is mounted writable`), ...listOpenPaths(told)];
}
