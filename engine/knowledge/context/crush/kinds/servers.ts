import type { OutputRecogniser } from '../recogniser.ts';

const DOWNLOADED =
  /^(?=.*(?:Download(?:ing|ed) |Lade .* herunter|Téléchargement |Descargando |Baixando |Scaricamento |Загрузка |Скачивание |ダウンロードして|正在下载|다운로드 중)).*\(\d[\d.,]* ?[kKMG]i?B\)$/;
const PASSED =
  /^(?:PASSED|BESTANDEN|RÉUSSI|SUPERAD[OA]|APROVAD[OA]|PASSOU|SUPERATO|ПРОЙДЕН|成功|合格|通过|통과):?[ \t]+\S.*[ (]\d+(?:[.,]\d+)? ?(?:ms|s|мс|ミリ秒|毫秒|밀리초)\)?$/;

/** Output that build servers and operations tools add around the output of others. */
export const servers: OutputRecogniser = {
  kind: 'ci',
  evidence:
    /^##\[(?:group|endgroup|section|command)\]|^::(?:group|endgroup)::|^section_(?:start|end):\d+|^\[Pipeline\] |^\S+: (?:Still creating|Refreshing state|Still destroying)\.\.\.|^(?:TASK|PLAY) \[/,
  classes: [
    { what: 'more ends of groups', pattern: /^(?:##\[endgroup\]|::endgroup::|section_end:\d+:\S+)$/ },
    { what: 'more steps of the pipeline', pattern: /^\[Pipeline\] (?:\}|\{.*|\/\/ \w+|End of Pipeline)$/ },
    {
      what: 'earlier states',
      pattern: /^\S+: Still (?:creating|destroying|modifying|reading)\.\.\. \[.*\]$/,
    },
    {
      what: 'more states that were read',
      pattern: /^\S+: (?:Refreshing state\.\.\.|Reading\.\.\.|Read complete after \d+s)(?: \[id=.*\])?$/,
    },
    { what: 'more tasks without change', pattern: /^(?:ok|skipping): \[[^\]]+\]$/ },
  ],
};

/** Downloads with a size and tests with a duration, as reported by scripts of build servers in their own language. */
export const reports: OutputRecogniser = {
  kind: 'ci',
  evidence:
    /\(\d[\d.,]* ?[kKMG]i?B\)\n.*\(\d[\d.,]* ?[kKMG]i?B\)$|^(?:PASSED|BESTANDEN|RÉUSSI|SUPERAD[OA]|APROVAD[OA]|PASSOU|SUPERATO|ПРОЙДЕН|成功|合格|通过|통과):?[ \t]+\S.*\d ?(?:ms|s|мс|ミリ秒|毫秒|밀리초)\)?$/,
  classes: [
    { what: 'more downloads', pattern: DOWNLOADED },
    { what: 'more passing tests', pattern: PASSED },
  ],
};
