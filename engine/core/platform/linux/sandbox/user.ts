import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PASSWD = '/etc/passwd';
/** Ordinary users start here, and end below the id that the kernel shows for users unknown in a sandbox. */
const FIRST = 1000;
const NOBODY = 65_534;

/**
 * Chooses a uid for root inside the sandbox that no user has outside. Its files stay root's. Programs that refuse to
 * run as root work, and programs that only check the number do not treat the worker as root.
 */
export function chooseUserInside(): number {
  const taken = new Set(
    readOrEmpty(PASSWD)
      .split('\n')
      .map((line) => Number(line.split(':')[2])),
  );
  let uid = FIRST;
  while (taken.has(uid) || uid === NOBODY) uid += 1;
  return uid;
}

/** Builds bubblewrap's arguments that give that user a name and a home: some programs fail without them. */
export function buildUserArgs(uid: number, { home, folder }: { home: string; folder: string }): string[] {
  const file = join(folder, 'passwd');
  const line = `worker:x:${uid}:${uid}:a worker of svc:${home.replaceAll(/[:\n]/g, '')}:/bin/sh\n`;
  const known = readOrEmpty(PASSWD);
  writeFileSync(file, `${known}${known === '' || known.endsWith('\n') ? '' : '\n'}${line}`, { mode: 0o600 });
  try {
    return ['--ro-bind', file, realpathSync(PASSWD)];
  } catch {
    return []; // user names are stored elsewhere on this machine
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
