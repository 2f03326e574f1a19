"""The names of the months, as dates of shows write them in many languages."""

# One row a language or its short forms, January first; a comma between the spellings of one month.
_ROWS = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sept,sep oct nov dec",
    "januar,jänner februar,feber märz,maerz,mär april mai juni juli august september oktober,okt november dezember,dez",
    "janvier février,fevrier mars avril mai juin juillet août,aout septembre octobre novembre décembre,decembre",
    "janv févr,fév mars avr mai juin juil août sept oct nov déc",
    "enero,ene febrero marzo abril,abr mayo junio julio agosto,ago septiembre,setiembre octubre noviembre diciembre,dic",
    "janeiro fevereiro,fev março,marco abril maio junho julho agosto setembro,set outubro,out novembro dezembro",
    "gennaio,gen febbraio marzo aprile maggio,mag giugno,giu luglio,lug agosto settembre ottobre,ott novembre dicembre",
    "januari februari maart,mrt april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "ocak şubat mart nisan may\u0131s haziran temmuz ağustos eylül ekim kas\u0131m aral\u0131k",
    "ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "янв фев мар апр май июн июл авг сен окт ноя дек",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "ledna února března dubna května června července srpna září října listopadu prosince",
)
MONTHS = {
    name: number for row in _ROWS for number, names in enumerate(row.split(), 1) for name in names.split(",")
}
