/**
 * Words that tell of something wrong, in the languages of build servers. They make folding more careful and never
 * decide by themselves that a line is left out: what is odd is found by comparing, not by its words.
 */
const FAILURE = new RegExp(
  [
    "err(?:or|no|s)?\\b|fail|fatal|panic|exception|traceback|warn|denied|refused|cannot|can't|not found|timed? ?out",
    'missing|invalid|unable|critical|abort|crash|killed|segfault|unexpected|undefined|unresolved|rejected|deprecat',
    'vulnerab|conflict|exit (?:code|status)|not ok\\b|fehler|fehlgeschlagen|warnung|ausnahme|abbruch|ungültig',
    'erreur|échec|échoué|avertissement|fallo|falló|fallid|advertencia|excepción|erro\\b|falh|aviso|errore|fallit',
    'avviso|eccezione|ошибк|предупрежд|сбой|исключен|エラー|失敗|警告|例外|错误|失败|异常|錯誤|異常|오류|실패|경고|예외',
    '[✗✘×✖❌⚠]|^\\s*●',
  ].join('|'),
  'iu',
);

/** Counts of nothing, and fields that say there was none. */
const NOTHING_WRONG =
  /\b(?:0|no|zero|without) (?:errors?|failures?|failed|warnings?)\b|\b(?:errors?|failures?|failed|warnings?)["']?\s*[:=]\s*(?:0|null|none|false|""|\[\])(?![\w.])/giu;

/** Whether the line tells of something wrong. */
export function tellsOfFailure(line: string): boolean {
  return FAILURE.test(line) && FAILURE.test(line.replace(NOTHING_WRONG, ''));
}
