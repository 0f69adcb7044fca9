import { readFileSync, writeFileSync } from 'node:fs';
import { stdin, stdout } from 'node:process';

// Asks its terminal how many cells texts take: `measure-child.js <in> <out>`, both JSON.
const [source = '', target = ''] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(source, 'utf8')) as string[];

/** DSR: requests the cursor position. */
const WHERE = '\u001b[6n';

async function measure(text: string): Promise<number> {
  const answer = new Promise<string>((resolve) => {
    let read = '';
    stdin.on('data', function take(part) {
      read += part;
      if (!read.includes('R')) return;
      stdin.off('data', take);
      resolve(read);
    });
  });
  stdout.write(`\r\u001b[K${text}${WHERE}`);
  return Number(/;(\d+)R/.exec(await answer)?.[1]) - 1;
}

stdin.setRawMode(true);
stdin.setEncoding('utf8').resume();
const cells: number[] = [];
for (const text of texts) cells.push(await measure(text));
writeFileSync(target, JSON.stringify(cells));
stdin.pause();
