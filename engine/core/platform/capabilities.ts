import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { canShowDesktopNotice } from './desktop-notice.ts';
import { platform } from './index.ts';
import type { Capability } from './platform.ts';

/** Tries it in the temporary folder; false also if nothing can be written there. */
async function canExchangeFolders(): Promise<boolean> {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'svc-exchange-'));
    try {
      const [one, other] = ['one', 'other'].map((name) => join(folder, name)) as [string, string];
      mkdirSync(one);
      mkdirSync(other);
      return await platform.exchangeFolders(one, other);
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return false;
  }
}

/** Names the system: `linux 6.12 (x64, glibc)`. */
export const describeSystem = (): string =>
  `${platform.readVersion()} (${[arch(), platform.findLibc()].filter((each) => each !== null).join(', ')})`;

/** Tries what svc uses of the operating system, for the person of an environment. */
export async function listCapabilities(env: NodeJS.ProcessEnv): Promise<Capability[]> {
  const { ways } = platform;
  const table = platform.processes.read(process.pid);
  const kernel = await platform.loadKernel();
  return [
    {
      name: 'process table',
      way: typeof table === 'object' ? ways.processTable : null,
      otherwise: 'processes of a run that leave its group are not found',
    },
    {
      name: 'open folders',
      way: platform.openFiles,
      otherwise: 'a folder that is exchanged during an export is not noticed',
    },
    {
      name: 'socket peers',
      way: kernel.problem === null ? 'the kernel' : null,
      otherwise: 'no caller has the Chair seat',
    },
    {
      name: 'folder exchange',
      way: (await canExchangeFolders()) ? 'in one step' : null,
      otherwise: 'an export is replaced in two steps',
    },
    ...(await platform.tryRights(env.PATH)),
    { name: 'file watch', way: ways.fileWatch, otherwise: '' },
    {
      name: 'service manager',
      way: platform.findServiceManager(),
      otherwise: 'svc up --unit has nothing to start it',
    },
    { name: 'browser', way: platform.findOpener(env), otherwise: 'pages are printed, not opened' },
    {
      name: 'desktop notice',
      way: canShowDesktopNotice(env) ? 'yes' : null,
      otherwise: 'the terminal of a dashboard shows it',
    },
  ];
}
