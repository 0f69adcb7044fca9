import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { claude } from '../../engine/workers/agents/presets/claude.ts';
import { checkConfinement, createConfinement } from '../../engine/workers/runner/confine/index.ts';
import { makeRepository } from '../support/workspaces/git.ts';
import { SVC } from '../support/workspaces/workspace.ts';
import { CannotRun, type Figure, figure, median } from './figure.ts';

const RUNS = 40;

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

/** Measures the cost of confinement: an empty program, confined and bare, and the preparation with its trial. */
export async function confinement(): Promise<Figure[]> {
  await checkConfinement(process.env).catch((error: Error) => {
    throw new CannotRun(error.message);
  });
  const repository = makeRepository();
  try {
    const { root, folder } = repository;
    const data = join(root, '.svc');
    const agents = join(data, 'agents');
    const worktree = join(agents, 'worktrees', 's-1');
    const sessionFolder = join(agents, 's-1');
    const home = join(folder, 'person');
    for (const each of [sessionFolder, join(home, '.claude')]) mkdirSync(each, { recursive: true });
    repository.git('worktree', 'add', '--quiet', '-b', 'svc/s-1', worktree);
    const { wrap } = createConfinement({
      env: process.env,
      root,
      configFile: join(root, 'README.md'),
      paths: {
        data,
        db: join(data, 'svc.db'),
        socket: join(data, 'svc.sock'),
        agents,
        worktrees: join(agents, 'worktrees'),
      },
      machineHome: join(home, '.config', 'svc'),
      svc: [process.execPath, SVC],
    });
    const env = { PATH: process.env.PATH ?? '', HOME: home };
    const spec = { cwd: worktree, env, worktree, sessionFolder, seatFolder: null, home: claude.home };
    const figures: Figure[] = [];
    for (const [name, argv] of [
      ['/bin/true', ['/bin/true']],
      ['node, nothing to do', [process.execPath, '-e', '']],
    ] as const) {
      const [bwrap = '', ...words] = await wrap({ ...spec, argv });
      const confined: number[] = [];
      const bare: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        bare.push(timed(() => execFileSync(argv[0], argv.slice(1), { cwd: worktree, env })));
        confined.push(timed(() => execFileSync(bwrap, words, { cwd: worktree, env })));
      }
      figures.push(figure(`confined: ${name}`, median(confined), 'ms', median(bare)));
    }
    const prepared: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const from = performance.now();
      await wrap({ ...spec, argv: ['/bin/true'] });
      prepared.push(performance.now() - from);
    }
    figures.push(figure('confined: rules and trial before a start', median(prepared), 'ms'));
    return figures;
  } finally {
    repository.remove();
  }
}
