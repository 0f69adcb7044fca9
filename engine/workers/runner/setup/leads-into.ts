import { realpathSync } from 'node:fs';
import { isInsideFolder } from '../../../core/base/paths.ts';

/** Reports whether a path is in a folder, whatever links lead there. */
export const leadsInto = (folder: string, path: string): boolean =>
  isInsideFolder(realpathSync(folder), realpathSync(path));
