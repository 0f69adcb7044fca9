const ENGLISH = new Set(
  'a an the of and to is it its that this for are as with be at by have has from or not but when there can which if will do does about how because never use used uses only than then after before without into until every on one see run keep'.split(
    ' ',
  ),
);
const OTHERS = new Set(
  'der die das und ist nicht ein eine einen einer fur mit auf von zu den dem des wird werden bei nach sich auch oder im vom zum zur le la les est une du dans avec sur pas el los las por con para una del que y se'.split(
    ' ',
  ),
);

/** Reports whether a text is certainly English: its function words are, and no letter has an accent. */
export function looksEnglish(text: string): boolean {
  let english = 0;
  let others = 0;
  if (/[^\u0000-\u00bf\u2010-\u203a\u2190-\u21ff]/.test(text)) return false;
  for (const [word] of text.toLowerCase().matchAll(/[a-z]+/g)) {
    if (ENGLISH.has(word)) english += 1;
    else if (OTHERS.has(word)) others += 1;
  }
  return english > 4 * others;
}
