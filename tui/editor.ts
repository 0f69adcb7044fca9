import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../engine/index.ts';

/** The text after the person's editor has ended. Throws `usage` when there is no such program or it fails. */
export async function editText(text: string, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const command = env.VISUAL || env.EDITOR || 'vi';
  // mkdtemp makes the folder for this user alone.
  const folder = await mkdtemp(join(tmpdir(), 'svc-edit-'));
  const file = join(folder, name);
  try {
    // Editors expect a last line that ends; what they add is not a change.
    await writeFile(file, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
    // $EDITOR may carry arguments, so a shell reads it; the file's name is no part of what it reads.
    const child = spawn('sh', ['-c', `${command} "$1"`, 'sh', file], { stdio: 'inherit', env });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('exit', resolve);
    });
    if (code !== 0) {
      throw new SvcError('usage', `the editor ended with ${code}: nothing was changed`, {
        hint: 'set EDITOR to a program that is installed',
      });
    }
    const edited = await readFile(file, 'utf8');
    return text.endsWith('\n') ? edited : edited.replace(/\n$/, '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
