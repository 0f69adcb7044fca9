import { agents } from './agents.ts';
import { commandLine, daemon } from './commands.ts';
import { confinement } from './confine.ts';
import { dashboard } from './dashboard.ts';
import { approveToSpawn } from './dispatch.ts';
import type { Figure } from './figure.ts';
import { hooks } from './hooks.ts';
import { receiverBench } from './receiver.ts';
import { scale } from './scale.ts';
import { tools } from './tools.ts';

// npm run bench [-- --json] [-- name …]: the speed bars, each beside a reference measured in the same run.

const BENCHES: Record<string, () => Promise<Figure[]>> = {
  receiver: receiverBench,
  dispatch: approveToSpawn,
  cli: commandLine,
  hooks,
  daemon,
  tools,
  dashboard,
  confine: confinement,
  agents,
  scale,
};

const isJson = process.argv.includes('--json');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const figures: Figure[] = [];

for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const each of await bench()) {
    figures.push(each);
    if (isJson) continue;
    const beside = each.reference === null ? '' : `  reference ${each.reference}, ratio ${each.ratio}`;
    console.log(`${each.name}: ${each.value} ${each.unit}${beside}`);
  }
}
if (isJson) console.log(JSON.stringify(figures, null, 2));
