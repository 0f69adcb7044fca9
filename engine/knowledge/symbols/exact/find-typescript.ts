import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInsideFolder } from '../../../core/base/paths.ts';

/** The project's own `typescript`. */
export interface TypescriptHere {
  /** The folder of the package, with links resolved. */
  folder: string;
  version: string;
}

/** The oldest version with a sufficient interface. */
const OLDEST = 4;

/**
 * Finds the `typescript` inside a project: in its own `node_modules`, otherwise in one of its packages. A clause
 * gives the reason if none can be used. An installation outside does not belong to the project.
 * @param root the project's folder, with links resolved
 * @param manifests paths of its package.json files
 */
export function findTypescript(root: string, manifests: readonly string[]): TypescriptHere | string {
  const folders = ['.', ...manifests.filter((path) => path.endsWith('package.json')).map(dirname)];
  let why = 'no typescript in node_modules';
  for (const folder of new Set(folders)) {
    const found = readPackage(root, join(root, folder, 'node_modules', 'typescript'));
    if (found === null) continue;
    if (typeof found !== 'string') return found;
    why = found;
  }
  return why;
}

function readPackage(root: string, path: string): TypescriptHere | string | null {
  try {
    const folder = realpathSync.native(path);
    if (!isInsideFolder(root, folder)) return 'typescript is linked from outside the project';
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      version?: unknown;
    };
    if (typeof version !== 'string' || !/^\d{1,4}\.[\w.-]{1,60}$/.test(version))
      return 'typescript has no version';
    return Number.parseInt(version, 10) < OLDEST ? `typescript ${version} is too old` : { folder, version };
  } catch {
    return null;
  }
}
