import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { dataFolders, doctorChecks } from '../../engine/index.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  findNearestFolder,
  type RunningEngine,
  readErrorMessage,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';

const MIB = 1024 ** 2;
const ENOUGH = 1024 * MIB;
const TOO_LITTLE = 100 * MIB;
const SKEW_SEC = 60;

/** Checks permissions, space and kind of the data folder's location. */
export async function checkData(workspace: CheckedWorkspace): Promise<DoctorCheck[]> {
  const { data, db } = workspace.paths;
  const folder = findNearestFolder(data);
  const checks = [checkRights(data, folder), await checkOwnership(workspace)];
  try {
    const { measureDisk } = await doctorChecks();
    const { freeBytes, network } = measureDisk(folder);
    checks.push(checkSpace(freeBytes, folder));
    const shared = network ?? measureDisk(findNearestFolder(dirname(db))).network;
    checks.push(
      shared === null
        ? reportPass('file system', 'local')
        : reportFailure(
            'file system',
            `${folder} is on a network file system (${shared}), where locks are unreliable`,
            'set paths.data and db.path to a folder on a local disk',
          ),
    );
  } catch (error) {
    checks.push(reportWarning('file system', readErrorMessage(error), null));
  }
  return [...checks, await checkSocket(workspace)];
}

function checkRights(data: string, folder: string): DoctorCheck {
  const name = 'data folder';
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return reportFailure(
      name,
      `${folder} is not writable for this user`,
      'change its owner or permissions, or set paths.data',
    );
  }
  if (!existsSync(data)) return reportPass(name, `${data} is created at the first start`);
  const found = lstatSync(data);
  if (!found.isDirectory())
    return reportFailure(name, `${data} is not a folder`, 'set paths.data to a folder');
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    return reportFailure(name, `${data} belongs to another user`, 'run svc as its owner, or set paths.data');
  }
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return (found.mode & 0o077) === 0
    ? reportPass(name, `${data}, ${mode}`)
    : reportWarning(name, `${data} has mode ${mode}: other users can read it`, `chmod 700 ${data}`);
}

function checkSpace(bytes: number, folder: string): DoctorCheck {
  const found = `${Math.floor(bytes / MIB)} MiB free in ${folder}`;
  const remedy = 'free some space: worktrees and logs need it, and writes fail when the disk is full';
  if (bytes < TOO_LITTLE) return reportFailure('disk space', found, remedy);
  return bytes < ENOUGH ? reportWarning('disk space', found, remedy) : reportPass('disk space', found);
}

/** Checks that the data folder was made by svc on this machine, as every command does before it uses it. */
async function checkOwnership({ loaded: { root }, paths, env }: CheckedWorkspace): Promise<DoctorCheck> {
  const name = 'data folder is ours';
  const { checkKeptPaths, listDatabaseFiles, inspectOwnDataFolder, listTrackedFiles } = await dataFolders();
  try {
    const found = inspectOwnDataFolder({ root, data: paths.data }, env);
    const [tracked] = await listTrackedFiles([paths.data, ...listDatabaseFiles(paths.db)], env);
    if (tracked !== undefined)
      return reportFailure(
        name,
        `git tracks ${tracked}, and may replace it at any time`,
        'svc adopt --fresh',
      );
    if (found.state !== 'ours') return reportPass(name, 'there is none yet');
    checkKeptPaths(paths);
    return reportPass(name, 'made by svc on this machine');
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    return reportFailure(name, message, String(hint ?? 'svc adopt'));
  }
}

async function checkSocket({ paths: { data, socket }, env }: CheckedWorkspace): Promise<DoctorCheck> {
  const name = 'socket path';
  const { checkSocket: check, resolveSocketPath } = await dataFolders();
  try {
    const path = resolveSocketPath(socket, env);
    check(path, data);
    const length = Buffer.byteLength(socket);
    return path === socket
      ? reportPass(name, `${length} bytes`)
      : reportPass(name, `${length} bytes is too long, so the socket is created in ${dirname(path)}`);
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    return reportFailure(name, message, String(hint ?? 'set daemon.socket to a shorter path'));
  }
}

/** Compares this program's clock with the file system's and, if it is running, the engine's. */
export function checkClock(workspace: CheckedWorkspace | null, engine: RunningEngine | null): DoctorCheck {
  const folder = workspace !== null && existsSync(workspace.paths.data) ? workspace.paths.data : tmpdir();
  const clocks: [string, number][] = [];
  try {
    clocks.push(['the file system', readFileSystemTime(folder) - Date.now()]);
  } catch {
    // Not writable: the check of the data folder reports that.
  }
  if (engine !== null) {
    clocks.push(['the engine', Date.parse(engine.started_at) + engine.uptime_sec * 1000 - Date.now()]);
  }
  const seconds = clocks.map(([whose, ms]) => [whose, Math.round(ms / 1000)] as const);
  const differing = seconds.filter(([, by]) => Math.abs(by) > 1);
  const apart = differing.map(([whose, by]) => `${Math.abs(by)} s from ${whose}`).join(', ');
  const found =
    seconds.length === 0
      ? 'nothing to compare with'
      : apart === ''
        ? 'in step'
        : `${apart}; signed requests allow 300 s`;
  return seconds.some(([, by]) => Math.abs(by) > SKEW_SEC)
    ? reportWarning('clock', found, 'set the clock, for example with a time service, and restart the engine')
    : reportPass('clock', found);
}

function readFileSystemTime(folder: string): number {
  const own = mkdtempSync(join(folder, 'doctor-'));
  try {
    const file = join(own, 'now');
    writeFileSync(file, '');
    return statSync(file).mtimeMs;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
