import { readFileSync } from 'node:fs';

/** From package.json, which lies two folders above the built file and one above the source. */
function readVersion(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'svc' && version !== undefined) return version;
    } catch {
      // not there: try the next
    }
  }
  return '0.0.0';
}

export const version = readVersion();
