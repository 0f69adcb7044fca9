import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asSvcError } from '../../../core/base/errors.ts';
import { DEFAULT_PATH } from '../../../core/base/find-program.ts';
import { locateProgram } from '../../../core/base/own-package.ts';
import { confineReader } from '../../../workers/runner/confine/index.ts';
import type { CompilerLimits } from './run-compiler.ts';

/** The start options of the compiler's process. */
export interface CompilerStart {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Why it has no sandbox, as a clause; null if it has one. */
  unconfined: string | null;
}

export const COMPILER_LIMITS: CompilerLimits = { wallMs: 300_000, memoryMb: 3000 };
/** Memory of the compiler's own heap; only advisory for its native form. */
const HEAP_MB = 2048;
const PROCESSOR_SECONDS = 600;

const LIMITED = 'ulimit -c 0; ulimit -t "$1"; GOMEMLIMIT="$2"; export GOMEMLIMIT; shift 2; exec "$@"';

/**
 * Builds the command of the compiler's process. Throws `tool_missing` and `confinement_unavailable` if it must be
 * confined and cannot be.
 * @param folder the project's folder, with links resolved
 * @param without folders in it that do not belong to the project
 */
export async function buildCompilerStart(
  { folder, without, mustConfine }: { folder: string; without: readonly string[]; mustConfine: boolean },
  env: NodeJS.ProcessEnv,
): Promise<CompilerStart> {
  const program = locateProgram('compiler-process');
  const node = process.execPath;
  const limited = ['/bin/sh', '-c', LIMITED, 'svc', String(PROCESSOR_SECONDS), `${HEAP_MB}MiB`, node];
  const heap = `--max-old-space-size=${HEAP_MB}`;
  try {
    const argv = await confineReader(
      { argv: [...limited, heap, program], folder, without, files: listNodeFiles(node, program) },
      env,
    );
    return { argv, env: {}, unconfined: null };
  } catch (error) {
    if (mustConfine) throw error;
    // Node's own permission model is not a sandbox, but better than nothing.
    const allowed = [folder, ...listNodeFiles(node, program)].map((path) => `--allow-fs-read=${path}`);
    const argv = [...limited, heap, '--permission', '--allow-child-process', ...allowed, program];
    const { code, message } = asSvcError(error);
    const unconfined = code === 'tool_missing' ? 'there is no sandbox' : message;
    return { argv, env: { PATH: DEFAULT_PATH }, unconfined };
  }
}

/** Lists the files of a program of Node that it needs in addition to the system's own folders. */
const listNodeFiles = (node: string, program: string): string[] => [
  realpathSync(node),
  node,
  dirname(program),
  join(dirname(program), '..', '..', 'package.json'),
];
