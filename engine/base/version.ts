import { readFileSync } from 'node:fs';

/** Reads package.json, which lies two folders above this file, or three above the built one. */
function readVersion(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'svc' && version !== undefined) return version;
    } catch {
      // Not there: try the next.
    }
  }
  throw new Error('package.json of svc is missing');
}

export const version = readVersion();
