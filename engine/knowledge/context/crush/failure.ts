/**
 * Words that indicate a problem, in the languages of build servers. They make folding more careful and never cause an
 * omission by themselves: odd lines are found by comparison, not by words.
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

/** Zero counts, and fields for the absence of problems. */
const NOTHING_WRONG =
  /\b(?:0|no|zero|without) (?:errors?|failures?|failed|warnings?)\b|\b(?:errors?|failures?|failed|warnings?)["']?\s*[:=]\s*(?:0|null|none|false|""|\[\])(?![\w.])/giu;

/** Reports whether the line indicates a problem. */
export function tellsOfFailure(line: string): boolean {
  return FAILURE.test(line) && FAILURE.test(line.replace(NOTHING_WRONG, ''));
}
