from lxml import etree, html, objectify

root = etree.Element("r")
for i in range(3000):
    child = etree.SubElement(root, "c", n=str(i))
    child.text = "text %d" % (i % 13)
text = etree.tostring(root)
print(len(text), len(etree.fromstring(text).xpath("//c[@n mod 7 = 0]")))
sheet = etree.XSLT(etree.XML("""<xsl:stylesheet version="1.0"
 xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/r"><o>
 <xsl:for-each select="c[position() &lt; 9]"><xsl:sort select="@n" order="descending"/>
 <i><xsl:value-of select="."/></i></xsl:for-each></o></xsl:template></xsl:stylesheet>"""))
print(str(sheet(root))[:120])
print(etree.tostring(html.fromstring("<p>a<b>b<i>c</b>d<table><tr><td>x")))
print(objectify.fromstring("<a><b>1</b><b>2</b></a>").b[1] + 1)
for bad in ("<a><b></a>", "", "<a/><b/>"):
    try:
        etree.fromstring(bad)
    except etree.XMLSyntaxError as error:
        print("refused", error.code)
schema = etree.RelaxNG(etree.XML("""<element name="r" xmlns="http://relaxng.org/ns/structure/1.0">
 <zeroOrMore><element name="c"><attribute name="n"/><text/></element></zeroOrMore></element>"""))
print(schema.validate(root))
