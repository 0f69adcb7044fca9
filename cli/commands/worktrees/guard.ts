import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { EXIT } from '../../../engine/core/base/errors.ts';
import { version } from '../../../engine/core/base/own-package.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { type Api, describeCopyType, describeLanguage, describeLost } from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';

type Report = Api['guard.check']['output'];
type Copy = Report['copies'][number];
type Text = Report['languages'][number];

const check = defineCommand({
  name: 'guard check',
  about: 'find copies of the project’s own code: in files, in a range of commits, or in uncommitted changes',
  args: [
    {
      name: 'path',
      about: 'files and folders; all their content is treated as new',
      optional: true,
      rest: true,
      completes: 'file',
    },
  ],
  flags: {
    range: { type: 'string', value: 'a..b', about: 'check what these commits added' },
    project: { type: 'string', value: 'id', about: 'check this project' },
    session: { type: 'string', value: 'id', about: 'check the worktree of this session' },
    sarif: { type: 'boolean', about: 'as SARIF 2.1.0, for a code host' },
  },
  examples: ['guard check', 'guard check src', 'guard check --range main..HEAD --sarif > guard.sarif'],
  async run(context) {
    const { range, project, session, sarif } = context.flags;
    const client = await context.engine();
    const paths = context.args.map((path) => resolve(context.cwd, path));
    const report = await client.run(
      'guard.check',
      { paths: paths.length === 0 ? undefined : paths, range, project, session },
      {
        key: randomUUID(),
        signal: context.signal,
        onProgress: (message) => context.note(toPrintable(message)),
      },
    );
    if (sarif) context.stdout.write(`${JSON.stringify(toSarif(report), null, 2)}\n`);
    else context.result(report, formatReport);
    if (report.is_partial) context.note('note: not everything was compared: name files, or a smaller range');
    for (const each of report.lost) context.note(`note: ${describeLost(each)}`);
    if (report.unread.length > 0)
      context.note(`note: no sources of the project's own: ${toPrintable(report.unread.join(', '))}`);
    return report.refused ? EXIT.denied : 0;
  },
});

export const guardCommands: readonly Command[] = [check];

const formatPlace = ({ path, from, to, name }: Pick<Copy, 'path' | 'from' | 'to' | 'name'>): string =>
  toPrintable(`${path}:${from}-${to}${name === null ? '' : ` (${name})`}`);

const formatReport = ({ copies, languages, files, mode }: Report): string =>
  [
    ...languages.map(describeLanguage),
    ...copies.flatMap((copy) => [
      `${formatPlace(copy)} repeats ${formatPlace(copy.original)}`,
      `  ${describeCopyType(copy.type)}, ${copy.tokens} tokens${copy.coverage > 0 ? `, ${Math.round(copy.coverage * 100)} % of the function` : ''}`,
      ...(copy.others.length === 0 ? [] : [`  also at ${toPrintable(copy.others.join(', '))}`]),
    ]),
    `${formatCount(copies.length, 'copy', 'copies')}${languages.length === 0 ? '' : `, ${formatCount(languages.length, 'text in another language', 'texts in another language')}`} in ${formatCount(files, 'file', 'files')}${mode === 'off' ? '; not reported to agents: guard.dup.mode' : ''}`,
  ].join('\n');

/** As static analysis tools exchange it: https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
function toSarif({ copies, languages, mode, language_mode }: Report): object {
  const rules = [
    ...([1, 2, 3] as const).map((type) => ({
      id: `copy-type-${type}`,
      shortDescription: { text: `A copy of code that the project has: ${describeCopyType(type)}.` },
    })),
    { id: 'language', shortDescription: { text: 'A text in a language other than the project’s.' } },
  ];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'svc guard', version, rules } },
        results: [
          ...languages.map((text) => toLanguageResult(text, language_mode)),
          ...copies.map((copy) => ({
            ruleId: `copy-type-${copy.type}`,
            ruleIndex: copy.type - 1,
            level: mode === 'block' && copy.type < 3 ? 'error' : 'warning',
            message: { text: `${formatPlace(copy)} repeats ${formatPlace(copy.original)}` },
            locations: [toLocation(copy)],
            relatedLocations: [{ id: 1, ...toLocation(copy.original) }],
            properties: { tokens: copy.tokens, coverage: copy.coverage },
          })),
        ],
      },
    ],
  };
}

const toLanguageResult = (text: Text, mode: string): object => ({
  ruleId: 'language',
  ruleIndex: 3,
  level: text.is_advice ? 'note' : mode === 'block' ? 'error' : 'warning',
  message: { text: describeLanguage(text) },
  locations: [toLocation({ path: text.path, from: text.line, to: text.line })],
  properties: { found: text.found, wanted: text.wanted, confidence: text.confidence },
});

const toLocation = ({ path, from, to }: Pick<Copy, 'path' | 'from' | 'to'>) => ({
  physicalLocation: {
    artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
    region: { startLine: from, endLine: to },
  },
});
