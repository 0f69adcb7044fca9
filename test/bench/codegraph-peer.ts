import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const PEERS = process.env.SVC_BENCH_PEERS ?? '';
const PROGRAM = join(PEERS, 'node_modules', '.bin', 'codegraph');
const INSTALL = 'npm install --prefix <folder> @colbymchenry/codegraph@1.6.1, then SVC_BENCH_PEERS=<folder>';

/** Calls and `new` with both ends; a constructor counts as its class, as in the compiler. */
const CALLS = `
  SELECT DISTINCT source.file_path AS from_file, source.kind AS from_kind, source.name AS from_name, target.file_path AS to_file,
    CASE WHEN target.name = 'constructor' THEN
      coalesce((SELECT outer.name FROM edges AS holds JOIN nodes AS outer ON outer.id = holds.source
                 WHERE holds.target = target.id AND holds.kind = 'contains' AND outer.kind = 'class'), target.name)
      ELSE target.name END AS to_name
  FROM edges JOIN nodes AS source ON source.id = edges.source JOIN nodes AS target ON target.id = edges.target
  WHERE edges.kind IN ('calls', 'instantiates') AND target.kind NOT IN ('file', 'import')`;

/**
 * Lists the calls that @colbymchenry/codegraph finds, in the form of the oracle; null, with a note on stderr, if it
 * is not installed.
 * @param root a folder of sources, in which it creates a folder
 * @param home its home folder
 */
export function askCodegraph(root: string, home: string): { calls: Set<string>; ms: number } | null {
  if (PEERS === '' || !existsSync(PROGRAM)) {
    console.error(`nothing beside the code graph: ${INSTALL}`);
    return null;
  }
  const from = performance.now();
  const { status, stderr } = spawnSync(PROGRAM, ['init', '--yes', root], {
    encoding: 'utf8',
    env: { ...process.env, HOME: home, CODEGRAPH_TELEMETRY: '0', DO_NOT_TRACK: '1' },
  });
  if (status !== 0) throw new Error(`codegraph: ${stderr}`);
  const ms = performance.now() - from;
  const folder = join(root, '.codegraph');
  const file = readdirSync(folder).find((name) => name.endsWith('.db'));
  const db = new Database(join(folder, file!), { readonly: true });
  const rows = db.prepare(CALLS).all() as Record<
    'from_file' | 'from_kind' | 'from_name' | 'to_file' | 'to_name',
    string
  >[];
  db.close();
  const calls = rows.map(
    (row) =>
      `${row.from_file}|${row.from_kind === 'file' ? '' : row.from_name}|${row.to_file}|${row.to_name}`,
  );
  return { calls: new Set(calls), ms };
}
