// Comments, messages and lines of documents as in real repositories, written for this bench.

const LINES: Readonly<Record<string, string>> = {
  en: `Reads the file again when its size has changed
Returns the first entry that fits, or null when there is none
The caller has to close it
Never throws: what goes wrong is logged
could not open the database, please try again later
Waits until the lock is free, at most ten seconds
TODO: remove this once the old clients are gone
We keep the last hundred lines so that an error can be explained
This must stay below the limit of the server
Unknown option, see the manual for a list of all options
Only the owner may change the settings of a project
sorted by date, newest first
Each worker gets a folder of its own and cleans it up afterwards
If the token has expired, ask for a new one and repeat the request
Fast path for plain strings without escapes
See the note above about time zones
Are you sure that you want to delete this account?
Your changes have been saved
No results were found for your search
Makes sure that nobody else writes to the same file at the same time
Old versions sent the id as a number
Do not call this from inside a transaction
The password must be at least twelve characters long
Cuts the text where a word ends
Both sides are compared without regard to case
Wrong user name or password
Download finished, the archive is in your home folder
An empty list means that everything is allowed
Adds a border around the selected cell
Retry with a longer delay after each failure
This is slow but it only runs once at start
Install the package and start the server with one command
The default is fine for most people
Set it to zero to turn the cache off
Choose a name for the new branch
Loading more items
Please enter a valid address
The build failed because two tests timed out
Keeps the connection open for further requests
How often the index is written to disk, in seconds
What the user typed last wins over what the file says
Nothing to do here
Values are clamped to the range of the slider
Handles both kinds of line endings
Swaps two rows of the matrix in place
Parses a duration such as five minutes
Checks whether the given path lies inside of the root folder
Splits a query into words and quoted phrases`,
  de: `Liest die Datei neu ein, wenn sich ihre Größe geändert hat
Gibt den ersten passenden Eintrag zurück oder nichts
Der Aufrufer muss die Verbindung wieder schließen
Wirft keine Fehler, sondern schreibt sie ins Protokoll
Die Datenbank konnte nicht geöffnet werden
Wartet, bis die Sperre frei ist, höchstens zehn Sekunden
Hier darf nichts mehr geändert werden
Wird nur noch von alten Clients benutzt und kann bald weg
Nur der Besitzer darf die Einstellungen eines Projekts ändern
Möchten Sie dieses Konto wirklich löschen?
Ihre Änderungen wurden gespeichert
Es wurden keine Treffer gefunden
Bitte geben Sie eine gültige Adresse ein
Falscher Benutzername oder falsches Passwort
Die Werte werden auf den erlaubten Bereich begrenzt
Prüft, ob der Pfad unterhalb des Stammordners liegt
Das ist zwar langsam, läuft aber nur einmal beim Start
Vorher muss der Server mit einem Befehl gestartet werden
Sortiert nach Datum, die neuesten zuerst
Siehe die Bemerkung oben zu den Zeitzonen
Die Summe aller Rechnungen ohne Steuern berechnen
Wenn der Schlüssel abgelaufen ist, wird ein neuer geholt`,
  fr: `Relit le fichier quand sa taille a changé
Renvoie la première entrée qui convient, ou rien du tout
La connexion doit être fermée par celui qui appelle
Impossible d'ouvrir la base de données, veuillez réessayer
Attend que le verrou soit libre, dix secondes au plus
Il ne faut plus rien modifier ici
Seul le propriétaire peut changer les réglages du projet
Voulez-vous vraiment supprimer ce compte ?
Vos modifications ont été enregistrées
Aucun résultat ne correspond à votre recherche
Veuillez saisir une adresse valide
Nom d'utilisateur ou mot de passe incorrect
Les valeurs sont limitées à l'intervalle permis
Vérifie que le chemin se trouve dans le dossier racine
C'est lent mais cela n'arrive qu'une fois au démarrage
Trié par date, les plus récents d'abord
Calcule la somme de toutes les factures sans les taxes
On garde les cent dernières lignes pour expliquer une erreur
Si le jeton a expiré, on en demande un nouveau
La liste vide signifie que tout est permis`,
  es: `Vuelve a leer el archivo cuando cambia su tamaño
Devuelve la primera entrada que coincide, o nada
Quien llama debe cerrar la conexión
No se pudo abrir la base de datos, inténtelo de nuevo
Espera hasta que el bloqueo esté libre, como mucho diez segundos
Aquí ya no se debe cambiar nada
Solo el dueño puede cambiar los ajustes del proyecto
¿Seguro que quiere eliminar esta cuenta?
Los cambios se han guardado
No se encontraron resultados para su búsqueda
Introduzca una dirección válida
Usuario o contraseña incorrectos
Los valores se limitan al rango permitido
Comprueba si la ruta está dentro de la carpeta raíz
Es lento pero solo ocurre una vez al inicio
Ordenado por fecha, los más nuevos primero
Calcula la suma de todas las facturas sin impuestos
Guardamos las últimas cien líneas para explicar un error
Si el token ha caducado, se pide otro
Una lista vacía significa que todo está permitido`,
  it: `Rilegge il file quando la sua dimensione è cambiata
Restituisce la prima voce che corrisponde, oppure niente
Chi chiama deve chiudere la connessione
Impossibile aprire il database, riprova più tardi
Aspetta che il blocco sia libero, al massimo dieci secondi
Qui non si deve più cambiare nulla
Solo il proprietario può cambiare le impostazioni del progetto
Vuoi davvero eliminare questo account?
Le modifiche sono state salvate
Nessun risultato per la tua ricerca
Inserisci un indirizzo valido
Nome utente o password non corretti
I valori sono limitati all'intervallo consentito
Controlla se il percorso si trova nella cartella principale
È lento ma succede solo una volta all'avvio
Calcola la somma di tutte le fatture senza le tasse`,
  pt: `Lê o arquivo de novo quando o tamanho muda
Devolve a primeira entrada que corresponde, ou nada
Quem chama deve fechar a conexão
Não foi possível abrir o banco de dados, tente mais tarde
Espera até que o bloqueio esteja livre, no máximo dez segundos
Aqui não se deve mudar mais nada
Só o dono pode mudar as configurações do projeto
Tem certeza de que quer excluir esta conta?
As alterações foram salvas
Nenhum resultado para a sua pesquisa
Digite um endereço válido
Usuário ou senha incorretos
Os valores são limitados ao intervalo permitido
Verifica se o caminho está dentro da pasta raiz
É lento mas só acontece uma vez no início
Calcula a soma de todas as faturas sem impostos`,
  nl: `Leest het bestand opnieuw als de grootte is veranderd
Geeft het eerste item terug dat past, of niets
De aanroeper moet de verbinding weer sluiten
De database kon niet worden geopend
Wacht tot het slot vrij is, hooguit tien seconden
Hier mag niets meer worden veranderd
Alleen de eigenaar mag de instellingen van een project wijzigen
Weet u zeker dat u dit account wilt verwijderen?
Uw wijzigingen zijn opgeslagen
Er zijn geen resultaten gevonden
Voer een geldig adres in
Onjuiste gebruikersnaam of wachtwoord
Controleert of het pad binnen de hoofdmap ligt
Dit is traag maar gebeurt maar één keer bij het begin`,
  pl: `Czyta plik ponownie, gdy zmienił się jego rozmiar
Zwraca pierwszy pasujący wpis albo nic
Połączenie musi zamknąć ten, kto wywołuje
Nie można otworzyć bazy danych, spróbuj później
Tutaj nie wolno już niczego zmieniać
Tylko właściciel może zmieniać ustawienia projektu
Czy na pewno chcesz usunąć to konto?
Zmiany zostały zapisane
Nie znaleziono żadnych wyników
Nieprawidłowa nazwa użytkownika lub hasło
Sprawdza, czy ścieżka leży w katalogu głównym`,
  sv: `Läser filen igen när storleken har ändrats
Returnerar den första posten som passar eller ingenting
Det gick inte att öppna databasen
Här får inget ändras längre
Bara ägaren kan ändra inställningarna för ett projekt
Vill du verkligen ta bort kontot?
Dina ändringar har sparats
Kontrollerar om sökvägen ligger i rotmappen`,
  tr: `Boyutu değiştiğinde dosyayı yeniden okur
Uyan ilk kaydı döndürür ya da hiçbir şey
Veritabanı açılamadı, daha sonra tekrar deneyin
Burada artık hiçbir şey değiştirilmemeli
Bu hesabı silmek istediğinizden emin misiniz?
Değişiklikleriniz kaydedildi
Aramanız için sonuç bulunamadı
Kullanıcı adı veya parola yanlış`,
  cs: `Načte soubor znovu, když se změní jeho velikost
Vrátí první záznam, který odpovídá, nebo nic
Databázi se nepodařilo otevřít
Tady se už nesmí nic měnit
Opravdu chcete tento účet smazat?
Vaše změny byly uloženy`,
  fi: `Lukee tiedoston uudelleen, kun sen koko on muuttunut
Palauttaa ensimmäisen sopivan rivin tai ei mitään
Tietokantaa ei voitu avata
Haluatko varmasti poistaa tämän tilin?
Muutokset on tallennettu`,
  hu: `Újra beolvassa a fájlt, ha megváltozott a mérete
Az adatbázist nem lehet megnyitni
Itt már semmit sem szabad módosítani
Biztosan törölni akarja ezt a fiókot?`,
  ro: `Citește din nou fișierul când s-a schimbat mărimea
Baza de date nu a putut fi deschisă
Aici nu mai trebuie schimbat nimic
Sigur doriți să ștergeți acest cont?`,
  id: `Membaca ulang berkas jika ukurannya sudah berubah
Basis data tidak dapat dibuka
Hanya pemilik yang dapat mengubah pengaturan proyek
Perubahan anda sudah disimpan dan akan dipakai`,
  da: `Læser filen igen, når størrelsen er ændret
Databasen kunne ikke åbnes
Vil du virkelig slette denne konto?
Dine ændringer er gemt`,
  ru: `Читает файл заново, когда изменился его размер
Возвращает первую подходящую запись или ничего
Не удалось открыть базу данных
Здесь больше ничего нельзя менять
Вы действительно хотите удалить эту учётную запись?
Изменения сохранены
Неверное имя пользователя или пароль`,
  uk: `Читає файл знову, коли змінився його розмір
Не вдалося відкрити базу даних
Ваші зміни збережено`,
  zh: `文件大小改变时重新读取
返回第一个符合条件的条目，没有则返回空
无法打开数据库，请稍后再试
您确定要删除此帐户吗？
更改已保存
没有找到结果
检查路径是否在根目录内`,
  ja: `サイズが変わったらファイルを読み直す
条件に合う最初の項目を返す
データベースを開けませんでした
このアカウントを本当に削除しますか？
変更を保存しました
結果が見つかりません`,
  ko: `크기가 바뀌면 파일을 다시 읽는다
데이터베이스를 열 수 없습니다
이 계정을 정말 삭제하시겠습니까?
변경 사항이 저장되었습니다`,
  ar: `يقرأ الملف مرة أخرى عندما يتغير حجمه
تعذر فتح قاعدة البيانات
هل تريد حقا حذف هذا الحساب؟`,
  el: `Διαβάζει ξανά το αρχείο όταν αλλάξει το μέγεθος
Δεν ήταν δυνατό το άνοιγμα της βάσης
Οι αλλαγές αποθηκεύτηκαν`,
  he: `קורא את הקובץ מחדש כאשר גודלו משתנה
לא ניתן לפתוח את מסד הנתונים`,
  hi: `आकार बदलने पर फ़ाइल फिर से पढ़ता है
डेटाबेस नहीं खोला जा सका`,
};

/**
 * Samples on other topics, written after the detector was finished. Words and the threshold were adjusted once after
 * their first run.
 */
const HELD_OUT: Readonly<Record<string, string>> = {
  en: `Draws the shadow below the player before the sprite itself
Gravity pulls twice as hard on the moon base
Paint the walls in the colour of the season
The robot turns left at the second junction
Cheap trick, but it beats the planner on small boards
Rotate the wheel by a quarter turn
Tickets sell out within minutes on Fridays
One coin per jump
Blends both images by their alpha channel
Guests may bring a friend
The camera follows the ball with a slight lag
Round up to whole cents at the very end
Hit the drum harder when the bass drops
Refuse orders above the credit limit
Ships sink slower in salt water
Warm up the oven first
Interest is paid out monthly
Sort of a hack around broken drivers
Skip the intro on second launch
Monsters sleep during the day`,
  de: `Zeichnet den Schatten unter der Spielfigur zuerst
Der Roboter biegt an der zweiten Kreuzung links ab
Schiffe sinken im Salzwasser langsamer
Zinsen werden monatlich ausgezahlt
Ungeheuer schlafen tagsüber
Erst den Ofen vorheizen
Dreht das Rad um eine Vierteldrehung
Bestellungen über dem Kreditrahmen ablehnen`,
  fr: `Dessine l'ombre sous le joueur avant son image
Le robot tourne à gauche au deuxième carrefour
Les navires coulent moins vite dans l'eau salée
Les intérêts sont versés chaque mois
Les monstres dorment pendant la journée
Préchauffer le four d'abord
Tourne la roue d'un quart de tour
Refuser les commandes au-dessus du plafond`,
  es: `Dibuja la sombra debajo del jugador antes que su imagen
El robot gira a la izquierda en el segundo cruce
Los barcos se hunden más despacio en agua salada
Los intereses se pagan cada mes
Los monstruos duermen durante el día
Primero hay que calentar el horno
Gira la rueda un cuarto de vuelta
Rechazar pedidos por encima del límite`,
  it: `Disegna l'ombra sotto il giocatore prima della figura
Il robot gira a sinistra al secondo incrocio
Le navi affondano più lentamente in acqua salata
I mostri dormono durante il giorno
Gira la ruota di un quarto`,
  pt: `Desenha a sombra debaixo do jogador antes da imagem
O robô vira à esquerda no segundo cruzamento
Os navios afundam mais devagar em água salgada
Os monstros dormem durante o dia
Gira a roda um quarto de volta`,
  nl: `Tekent eerst de schaduw onder de speler
De robot slaat bij het tweede kruispunt linksaf
Schepen zinken langzamer in zout water
Monsters slapen overdag
Draait het wiel een kwartslag`,
  pl: `Najpierw rysuje cień pod graczem
Robot skręca w lewo na drugim skrzyżowaniu
Potwory śpią w ciągu dnia
Obraca koło o ćwierć obrotu`,
  sv: `Ritar skuggan under spelaren först
Roboten svänger vänster vid den andra korsningen
Monster sover på dagen`,
  tr: `Önce oyuncunun altındaki gölgeyi çizer
Robot ikinci kavşakta sola döner
Canavarlar gündüz uyur`,
};

/** Minimum length of a line as a separate sample. */
const FEWEST_WORDS = 4;

export interface LanguageSample {
  language: string;
  text: string;
}

/** Returns every line, and both halves of each long line. */
export function listLanguageSamples(which: 'known' | 'held out'): LanguageSample[] {
  return Object.entries(which === 'known' ? LINES : HELD_OUT).flatMap(([language, lines]) =>
    lines.split('\n').flatMap((line) => {
      const words = line.split(' ');
      const middle = Math.ceil(words.length / 2);
      const halves =
        words.length >= 2 * FEWEST_WORDS
          ? [words.slice(0, middle).join(' '), words.slice(middle).join(' ')]
          : [];
      return [line, ...halves].map((text) => ({ language, text }));
    }),
  );
}
